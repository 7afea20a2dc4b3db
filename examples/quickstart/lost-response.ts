import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createTestService, forms } from '@reseller/testing';

test('a purchase survives a connection that breaks', async () => {
  await using service = await createTestService();
  const reseller = service.reseller();
  await reseller.vm.hosts();
  service.faults.add({ kind: 'reset', when: 'after' }, { path: '/vm/create' });
  const { attempts } = await reseller.vm.create(forms.createVm.smallest).withMeta();
  assert.equal(attempts, 2);
});
