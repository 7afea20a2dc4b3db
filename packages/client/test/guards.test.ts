/** The guards of purchases: `beforeBillable` and `readOnly`. */
import { describe, expect, test } from 'vitest';

import type { Purchase } from '../src/index.ts';
import { scripted, VM } from './scripted-service.ts';

describe('beforeBillable', () => {
  test.each<[string, () => never, string]>([
    [
      'an error',
      () => {
        throw new Error('not on a Sunday');
      },
      'not on a Sunday',
    ],
    [
      'another value',
      () => {
        throw 'no' as unknown;
      },
      'no',
    ],
  ])('refuses a purchase with %s, which is the cause', async (_, beforeBillable, reason) => {
    const { reseller, sent } = scripted({ config: { beforeBillable } });
    const error: unknown = await reseller.vm.create(VM).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: 'SpendRefusedError',
      message: `createVm: beforeBillable refused it: ${reason}. Nothing was sent.`,
    });
    expect(Object(error).cause).toEqual(reason === 'no' ? 'no' : new Error(reason));
    expect(sent).toEqual([]);
  });

  test('is called before each purchase with its path and form, may be asynchronous, and is called for nothing else', async () => {
    const asked: Purchase[] = [];
    const beforeBillable = async (purchase: Purchase) => void asked.push(purchase);
    const { reseller } = scripted({ config: { beforeBillable } });
    await reseller.domain.list();
    await reseller.domain.editDns('a.test', { type: 'A', data: '192.0.2.1' });
    await reseller.vm.create(VM);
    expect(asked).toEqual([{ operation: 'createVm', path: {}, form: VM }]);
  });
});

test('a read-only client sends no request that changes something, whether it costs money or not', async () => {
  const { reseller, sent, count } = scripted({ config: { readOnly: true } });
  await reseller.domain.list();
  for (const call of [() => reseller.vm.create(VM), () => reseller.domain.undelete('a.test'), () => reseller.account.createOtp()])
    await expect(call()).rejects.toMatchObject({
      name: 'SpendRefusedError',
      message: expect.stringContaining(': this client is read-only. Nothing was sent.'),
    });
  expect([sent.length, count('/domain/list')]).toEqual([0, 1]);
});
