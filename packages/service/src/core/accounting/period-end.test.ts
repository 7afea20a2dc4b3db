import { sql } from 'kysely';
import { expect, test } from 'vitest';

import { SMALL_VM, startService } from '../../../test/harness.ts';
import { euros } from '../../rules/money.ts';
import { chargeOwed } from './charge.ts';

test('closes the period of an account that sends no request', async () => {
  const service = await startService();
  const { apiKey } = await service.account();
  await service.call('createVm', { form: SMALL_VM });
  await service.call('createVm', { form: SMALL_VM, apiKey });
  service.clock.advanceTo('2027-01-15T00:00:00Z');
  await service.runScheduledJobs();
  const invoices = await service.store.read((db) =>
    db.selectFrom('invoices').select(['created', 'total', 'status']).orderBy('created').execute(),
  );
  expect(invoices.map(({ created, total, status }) => [new Date(created).toISOString(), total / 1e8, status])).toEqual([
    ['2026-12-01T00:00:00.000Z', 7.11, 'OPEN'],
    ['2026-12-01T00:00:00.000Z', 7.11, 'OPEN'],
    ['2027-01-01T00:00:00.000Z', 10.75, 'OPEN'],
    ['2027-01-01T00:00:00.000Z', 10.75, 'OPEN'],
  ]);
  expect(await service.runScheduledJobs()).toBe(0);
});

test('closes the period of an account with thousands of VMs', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account();
  await service.call('createVm', { form: SMALL_VM, apiKey });
  const copies = 4_000;
  await service.store.commit(async ({ db }) => {
    const columns = sql.raw(
      'number, account_id, type, start, monthly_price, hold, hostname, hostsystem, cores, mem, disk, storage, ips, backup_slots, network_speed',
    );
    // The period end reads positions only, so these need no VMs.
    await sql`
      insert into positions (vm_id, ${columns})
      with recursive copies (vm) as (select 100000 union all select vm + 1 from copies where vm < ${100_000 + copies - 1})
      select vm, ${columns} from positions, copies where account_id = ${id}`.execute(db);
    await sql`update accounts set held = held * ${copies + 1} where id = ${id}`.execute(db);
  });
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  await service.runScheduledJobs();
  const { held, positions } = await service.store.read(async (db) => ({
    held: (await db.selectFrom('accounts').select('held').where('id', '=', id).executeTakeFirstOrThrow()).held,
    positions: await db
      .selectFrom('positions')
      .select(['vm_id', 'type', 'hold'])
      .where('account_id', '=', id)
      .where('stop', 'is', null)
      .execute(),
  }));
  expect(new Set(positions.map(({ type }) => type))).toEqual(new Set(['BILLINGRESTART']));
  expect(new Set(positions.map(({ vm_id }) => vm_id)).size).toBe(copies + 1);
  expect(positions.reduce((sum, { hold }) => sum + hold, 0)).toBe(held);
});

test('holds a charge, shows it, and invoices it once', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account('20.00');
  const charge = {
    accountId: id,
    kind: 'domain',
    subject: 'reseller-customer.net',
    type: 'CREATE',
    start: 0,
    stop: 1,
    amount: euros('12.34'),
  } as const;
  const charged = (amount: string) =>
    service.store.commit(({ db }) => chargeOwed(db, service.ports, { ...charge, amount: euros(amount) }, service.clock.now()));
  await charged('12.34');
  const { data } = (await service.call('getCurrentInvoice', { apiKey })).body;
  expect(data).toMatchObject({ currentInvoiceTotal: 12.34, estimatedInvoiceTotal: 12.34, creditLimitRemaining: 7.66 });
  expect(data.positions.domains['reseller-customer.net']).toMatchObject([{ type: 'CREATE', totalPrice: 12.34 }]);
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  expect((await service.call('getCurrentInvoice', { apiKey })).body.data).toMatchObject({
    currentInvoiceTotal: 0,
    creditLimitRemaining: 7.66,
  });
  const account = await service.store.read((db) =>
    db.selectFrom('accounts').select(['unpaid', 'held']).where('id', '=', id).executeTakeFirstOrThrow(),
  );
  expect(account).toEqual({ unpaid: 1_234_000_000, held: 0 });
});
