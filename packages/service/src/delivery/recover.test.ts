import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { writeForm } from '@reseller/contract';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';

import { SECRET, SMALL_VM, startService } from '../../test/harness.ts';
import { resellerApi } from '../../test/http-client.ts';
import { TestHypervisor } from '../../test/ports/hypervisor.ts';
import { createService, openSqliteStore } from '../index.ts';

/** A hypervisor whose creations do not return until the test releases them. */
class HangingHypervisor extends TestHypervisor {
  readonly #released = Promise.withResolvers<void>();
  override async create(...call: Parameters<TestHypervisor['create']>): Promise<void> {
    await super.create(...call);
    await this.#released.promise;
  }
  letGo(): void {
    this.#released.resolve();
  }
}

test('undoes a purchase that a crash interrupted at the next start, and lets the caller repeat it with its key', async () => {
  const hypervisor = new HangingHypervisor();
  const service = await startService({ hypervisor });
  const before = await service.store.read((db) => db.selectFrom('accounts').select(['id', 'held']).orderBy('id').execute());
  const lost = service.call('createVm', { form: SMALL_VM, idempotencyKey: 'order-1' }).catch(() => 'cut');
  await expect.poll(() => hypervisor.vms.size).toBe(1);

  // The copy has the data that a process leaves if it is killed at this moment.
  const left = mkdtempSync(join(tmpdir(), 'left-'));
  onTestFinished(() => rmSync(left, { recursive: true, force: true }));
  cpSync(service.directory, left, { recursive: true });
  const store = await openSqliteStore(left);
  const survivor = new TestHypervisor();
  for (const [id, order] of hypervisor.vms) survivor.vms.set(id, order);
  const next = await createService({
    store,
    ports: { ...service.ports, hypervisor: survivor },
    secret: SECRET,
    logger: pino({ level: 'silent' }),
  });
  await next.settled();
  onTestFinished(async () => {
    await next.close();
    await store.close();
  });

  expect(survivor.vms.size).toBe(0);
  expect(await store.read((db) => db.selectFrom('vms').selectAll().execute())).toEqual([]);
  expect(await store.read((db) => db.selectFrom('reservations').selectAll().execute())).toEqual([]);
  expect(await store.read((db) => db.selectFrom('ip_addresses').selectAll().where('vm_id', 'is not', null).execute())).toEqual([]);
  expect(await store.read((db) => db.selectFrom('accounts').select(['id', 'held']).orderBy('id').execute())).toEqual(before);

  const baseUrl = await next.app.listen({ host: '127.0.0.1', port: 0 });
  const again = await fetch(`${baseUrl}/vm/create`, {
    method: 'PUT',
    headers: { 'x-service-apikey': service.apiKey, 'idempotency-key': 'order-1' },
    body: new URLSearchParams(writeForm(resellerApi.operation('createVm'), SMALL_VM)),
  });
  expect(again.status).toBe(200);
  expect(await store.read((db) => db.selectFrom('positions').selectAll().execute())).toHaveLength(1);
  hypervisor.letGo();
  await lost;
});
