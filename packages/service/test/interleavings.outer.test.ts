/** Forced interleavings on PostgreSQL: another transaction holds a row that a change needs, and ends when the change waits for it. */
import * as operator from '@reseller/operator-client';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';

import { closeEndedPeriods } from '../src/core/accounting/period-end.ts';
import { domainExpiryJobs } from '../src/core/domain/expiry-job.ts';
import { endQuarantine } from './addresses.ts';
import { countBlocked, countWaiting } from './databases.ts';
import { deployedServer, orderServer, RYZEN } from './dedicated.ts';
import { handleOf, PHONE, register } from './domains.ts';
import { newDatabase } from './engines.ts';
import { SECRET, SMALL_VM } from './harness.ts';
import type { startService, TestService } from './harness.ts';
import { expectInvariants } from './invariants.ts';
import { refusalOf, startOperator } from './operator.ts';
import { seededPlace } from './prepared-store.ts';
import { providerOf } from './provider.ts';

/** A statement of the other transaction, with its parameters. */
type Statement = readonly [text: string, values?: readonly unknown[]];

async function startContended(given: Parameters<typeof startService>[0] = {}) {
  const databaseUrl = await seededPlace('postgres');
  const service = await startOperator({ ...given, databaseUrl });
  const other = new Client({ connectionString: databaseUrl });
  await other.connect();
  onTestFinished(() => other.end());
  const isBlocking = async (): Promise<boolean> => (await countBlocked(other)) > 0;
  return {
    service,
    other,
    isBlocking,
    buy: (idempotencyKey?: string) => service.call('createVm', { form: SMALL_VM, ...(idempotencyKey !== undefined && { idempotencyKey }) }),
    /** Runs a statement in another transaction, starts a request, and ends the transaction when the request waits for it. */
    async meet<T>([text, values = []]: Statement, end: 'commit' | 'rollback', request: () => Promise<T>): Promise<T> {
      await other.query('begin');
      const { rowCount } = await other.query(text, [...values]);
      expect(rowCount).toBeGreaterThan(0);
      for (;;) {
        const pending = request();
        let outcome: unknown;
        pending.then(
          (result) => (outcome = result),
          (error: unknown) => (outcome = error),
        );
        await expect.poll(async () => outcome !== undefined || (await isBlocking())).toBe(true);
        // On a busy machine, a statement may exceed its time limit before the request comes to the locked row.
        if (Object(outcome).status === 503) continue;
        expect(outcome, 'the request did not wait for the other transaction').toBeUndefined();
        await other.query(end);
        return pending;
      }
    },
  };
}

test('a transaction sees that it blocks a connection which was opened after its first look', async () => {
  const url = await newDatabase();
  const [holder, late] = [new Client(url), new Client(url)];
  onTestFinished(() => holder.end());
  onTestFinished(() => late.end());
  await holder.connect();
  await holder.query('create table held (id int)');
  await holder.query('begin');
  await holder.query('lock table held');
  expect([await countBlocked(holder), await countWaiting(holder)]).toEqual([0, 0]);
  await late.connect();
  const reading = late.query('select id from held');
  await expect.poll(() => countBlocked(holder)).toBe(1);
  expect(await countWaiting(holder)).toBe(1);
  await holder.query('commit');
  expect((await reading).rows).toEqual([]);
});

const countVms = async ({ store }: TestService): Promise<number> =>
  (await store.read((db) => db.selectFrom('vms').select('id').execute())).length;
const remainingOf = async (service: TestService): Promise<number> =>
  (await service.call('getCurrentInvoice')).body.data.creditLimitRemaining;

test('two purchases share the credit to the cent: the second one sees the hold of the first one after its commit', async () => {
  const { service, buy, meet } = await startContended({ creditLimit: '100.00' });
  // 10.40 EUR for 30 days are 7.11 EUR for the 1,771,003 s until the month ends.
  const take = (cents: bigint): Statement => [
    'update accounts set unpaid = unpaid + $1 where credit_limit = 10000000000',
    [cents * 1_000_000n],
  ];
  expect((await meet(take(9_290n), 'rollback', buy)).status).toBe(200);
  expect(await remainingOf(service)).toBe(92.89);
  expect((await meet(take(8_578n), 'commit', buy)).status).toBe(200);
  // The exact holds of both VMs are 14.211… EUR.
  expect(await remainingOf(service)).toBe(0.01);
  expect(await countVms(service)).toBe(2);
});

test('a purchase that lacks one cent once another transaction has committed is refused', async () => {
  const { service, buy, meet } = await startContended({ creditLimit: '100.00' });
  const take = (cents: bigint): Statement => ['update accounts set unpaid = $1 where credit_limit = 10000000000', [cents * 1_000_000n]];
  const refused = await meet(take(9_290n), 'commit', buy);
  expect([refused.status, refused.body.type]).toEqual([402, 'credit_limit_exceeded']);
  expect([await remainingOf(service), await countVms(service)]).toEqual([7.1, 0]);
  await service.store.commit(({ db }) => db.updateTable('accounts').set({ unpaid: 9_289_000_000 }).where('unpaid', '>', 0).execute());
  expect((await buy()).status).toBe(200);
  expect(await remainingOf(service)).toBe(0);
});

test('a purchase that draws the same identifier as another one tries again', async () => {
  const { service, buy, meet } = await startContended({ vmIdentifiers: { minimum: 10_001, maximum: 10_002 } });
  const { identifier } = (await buy()).body.data;
  const last = identifier === 10_001 ? 10_002 : 10_001;
  const take: Statement = [
    `insert into vms select (jsonb_populate_record(vm, jsonb_build_object('id', $1::int))).* from vms as vm where vm.id = $2`,
    [last, identifier],
  ];
  const refused = await meet(take, 'commit', buy);
  expect([refused.status, refused.body.type]).toEqual([409, 'out_of_capacity']);
  await service.store.commit(({ db }) => db.deleteFrom('vms').where('id', '=', last).execute());
  const bought = await meet(take, 'rollback', buy);
  expect([bought.status, bought.body.data.identifier]).toEqual([200, last]);
  await expectInvariants(service.store);
});

test('an Idempotency-Key that another transaction deletes while a request reads it is free for that request', async () => {
  const { service, other, buy, isBlocking } = await startContended();
  const key = 'read-while-deleted';
  const first = await buy(key);
  // The request waits after its insert has found the key, and before it reads the key.
  const lock = 1;
  await other.query(`
    create function wait_for_test() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock_shared(${lock}); return null; end';
    create trigger wait_for_test after insert on idempotency_keys for each statement execute function wait_for_test();
    select pg_advisory_lock(${lock})`);
  const pending = buy(key);
  await expect.poll(isBlocking).toBe(true);
  expect(await other.query('delete from idempotency_keys')).toMatchObject({ rowCount: 1 });
  await other.query('select pg_advisory_unlock($1)', [lock]);
  const second = await pending;
  expect([first.status, second.status, await countVms(service)]).toEqual([200, 200, 2]);
  expect((await buy(key)).body).toEqual(second.body);
  await expectInvariants(service.store);
});

test('room on a node is taken only if it is still there once another transaction has ended', async () => {
  const { service, buy, meet } = await startContended();
  const take: Statement = ['update host_nodes set used_cores = cores'];
  expect((await meet(take, 'rollback', buy)).status).toBe(200);
  await expectInvariants(service.store);
  const before = await remainingOf(service);
  const refused = await meet(take, 'commit', buy);
  expect([refused.status, refused.body.type]).toEqual([409, 'out_of_capacity']);
  expect([await remainingOf(service), await countVms(service)]).toEqual([before, 1]);
});

test('a purchase waits for the last addresses that another transaction takes, and skips those that are not the last', async () => {
  const { service, other, buy, meet } = await startContended();
  const { identifier } = (await buy()).body.data;
  await other.query('begin');
  await other.query(
    'update ip_addresses set vm_id = $1 where address in (select address from ip_addresses where vm_id is null and family = 4 order by pool_id, position limit 5)',
    [identifier],
  );
  // Does not wait: the transaction is still open.
  expect((await buy()).status).toBe(200);
  await other.query('rollback');
  await expectInvariants(service.store);
  const takeAll: Statement = ['update ip_addresses set vm_id = $1 where vm_id is null', [identifier]];
  expect((await meet(takeAll, 'rollback', buy)).status).toBe(200);
  await expectInvariants(service.store);
  const refused = await meet(takeAll, 'commit', buy);
  expect([refused.status, refused.body.type, await countVms(service)]).toEqual([409, 'out_of_capacity', 3]);
});

test('the last address goes to one of two purchases, whichever transaction ends first', async () => {
  const { service, other, buy, meet } = await startContended();
  const { identifier } = (await buy()).body.data;
  const { identifier: another } = (await buy()).body.data;
  const last = "select min(address) from ip_addresses where vm_id is null and family = 4 and datacenter_name = 'AMS1'";
  await other.query(`delete from ip_addresses where vm_id is null and family = 4 and address <> (${last})`);
  const take: Statement = ['update ip_addresses set vm_id = $1 where vm_id is null and family = 4', [another]];
  const buyIp = () => service.call('buyIps', { form: { vmid: String(identifier) } });
  const bought = await meet(take, 'rollback', buyIp);
  expect(bought.status).toBe(200);
  await expectInvariants(service.store);
  const path = { ip_address: bought.body.data.list[0].ip_address };
  expect((await service.call('releaseIp', { path })).status).toBe(200);
  await endQuarantine(service);
  const refused = await meet(take, 'commit', buyIp);
  expect([refused.status, refused.body.type]).toEqual([409, 'out_of_capacity']);
});

test.each(['purchase', 'resize'])('a %s that waits for addresses whose holder waits for it ends like any other', async (kind) => {
  const { service, other, isBlocking, buy } = await startContended();
  const { identifier } = (await buy()).body.data;
  const resize = () => service.call('changeVm', { path: { vmid: identifier }, form: { ips: 2 } });
  await other.query('begin');
  await other.query('update ip_addresses set vm_id = $1 where vm_id is null', [identifier]);
  const pending = kind === 'purchase' ? buy() : resize();
  await expect.poll(isBlocking).toBe(true);
  // The request has locked its account, so both wait for each other until PostgreSQL stops one of them.
  await other.query('update accounts set held = held').catch(() => {});
  await other.query('rollback');
  expect((await pending).status).toBe(200);
  await expectInvariants(service.store);
});

test('a request waits for another one that claims its Idempotency-Key, and is carried out only if that one is rolled back', async () => {
  const { service, buy, meet } = await startContended();
  expect((await buy('order-1')).status).toBe(200);
  const row = await service.store.read((db) => db.selectFrom('idempotency_keys').selectAll().executeTakeFirstOrThrow());
  await service.store.commit(({ db }) => db.deleteFrom('idempotency_keys').execute());
  const claim: Statement = [
    `insert into idempotency_keys (account_id, key_hash, fingerprint, state, response, created) values ($1, $2, $3, 'pending', null, $4)`,
    [row.account_id, row.key_hash, row.fingerprint, row.created],
  ];
  const refused = await meet(claim, 'commit', () => buy('order-1'));
  expect([refused.status, refused.body.type]).toEqual([409, 'idempotency_key_in_progress']);
  await service.store.commit(({ db }) => db.deleteFrom('idempotency_keys').execute());
  expect((await meet(claim, 'rollback', () => buy('order-1'))).status).toBe(200);
  expect(await countVms(service)).toBe(2);
});

test('a purchase waits for the transaction that ends the month of its account, and is billed in the next month', async () => {
  const { service, buy, meet } = await startContended();
  const december = Date.UTC(2026, 11) / 1000;
  expect((await meet(['update accounts set period_start = $1', [december]], 'commit', buy)).status).toBe(200);
  expect(await service.store.read((db) => db.selectFrom('positions').select('start').execute())).toEqual([{ start: december }]);
});

const accountOf = ({ store }: TestService) =>
  store.read((db) => db.selectFrom('accounts').selectAll().where('name', '=', 'test').executeTakeFirstOrThrow());

test('a month is closed only by the transaction that ends it, and not again by one that waited for it', async () => {
  const { service, buy, meet } = await startContended();
  await buy();
  const [december, january] = [Date.UTC(2026, 11) / 1000, Date.UTC(2027, 0) / 1000];
  const { id } = await accountOf(service);
  const close = (now: number) => () => service.store.commit(({ db }) => closeEndedPeriods(db, id, now));
  const countInvoices = async () => (await service.store.read((db) => db.selectFrom('invoices').select('id').execute())).length;
  const end = (start: number): Statement => ['update accounts set period_start = $1 where id = $2', [start, id]];
  await meet(end(december), 'commit', close(december));
  expect([await countInvoices(), (await accountOf(service)).period_start]).toEqual([0, december]);
  await meet(end(january), 'rollback', close(january));
  expect([await countInvoices(), (await accountOf(service)).period_start]).toEqual([1, january]);
});

test.each([
  ['is being changed', 'changing = 1'],
  ['was stopped', `state = 'stopped'`],
])('a stop that waited for the account is refused if the VM %s meanwhile', async (_, change) => {
  const { service, buy, meet } = await startContended();
  const { identifier } = (await buy()).body.data;
  const take: Statement = [
    `with locked as (update accounts set held = held returning id) update vms set ${change} where id = $1 and exists (select 1 from locked)`,
    [identifier],
  ];
  const stop = () => service.vms.stop(identifier);
  await expect(meet(take, 'commit', stop)).rejects.toMatchObject({
    status: 409,
    message: `Another change of the VM ${identifier} is in progress. Wait until it has finished, then read the VM again.`,
  });
  await service.store.commit(({ db }) => db.updateTable('vms').set({ changing: 0, state: 'running' }).execute());
  await meet(take, 'rollback', stop);
  await expectInvariants(service.store);
});

test.each([
  ['was renewed', 'expires = expires + 31536000'],
  ['was cancelled', 'terminated = 1'],
  ['is being changed', `state = 'changing'`],
])('a renewal that waited for a domain does nothing if the domain %s meanwhile', async (_, change) => {
  const { service, meet } = await startContended();
  await register(service, 'reseller-customer.net');
  const domain = () => service.store.read((db) => db.selectFrom('domains').selectAll().executeTakeFirstOrThrow());
  const { account_id: accountId, expires: due } = await domain();
  const { held } = await accountOf(service);
  const renew = () =>
    service.store.commit(({ db }) =>
      domainExpiryJobs.perform(
        db,
        { ports: service.ports, secret: SECRET },
        { id: 'reseller-customer.net', kind: 'domain_renewal', accountId, due },
      ),
    );
  await meet([`update domains set ${change}`], 'commit', renew);
  expect((await accountOf(service)).held).toBe(held);
  await service.store.commit(({ db }) => db.updateTable('domains').set({ expires: due, terminated: 0, state: 'registered' }).execute());
  await meet([`update domains set ${change}`], 'rollback', renew);
  expect((await domain()).expires).toBeGreaterThan(due);
  expect((await accountOf(service)).held).toBeGreaterThan(held);
});

test('an order that waited for a server is refused if another account got it, and applies to its new state otherwise', async () => {
  const { service, meet } = await startContended();
  const { id } = await service.account();
  const order = () => orderServer(service, RYZEN, id);
  const change = (columns: string): Statement => [`update dedicated_servers set ${columns}, version = version + 1 where id = $1`, [RYZEN]];
  await expect(
    meet(change(`state = 'ordered', account_id = (select id from accounts where name = 'test' limit 1)`), 'commit', order),
  ).rejects.toMatchObject({
    status: 409,
    message: `The dedicated server ${RYZEN} is no longer on the market. Choose another one.`,
  });
  await service.store.commit(({ db }) =>
    db.updateTable('dedicated_servers').set({ state: 'offered', account_id: null }).where('id', '=', RYZEN).execute(),
  );
  // Another transaction has changed something else of it.
  await meet(change(`status_type = 'ready'`), 'commit', order);
  const server = await service.store.read((db) =>
    db
      .selectFrom('dedicated_servers')
      .select(['account_id', 'state', 'version', 'status_type'])
      .where('id', '=', RYZEN)
      .executeTakeFirstOrThrow(),
  );
  expect(server).toEqual({ account_id: id, state: 'ordered', version: 3, status_type: 'ready' });
});

test('a cancellation that waited for a server does not find it if it has ended meanwhile', async () => {
  const { service, meet } = await startContended();
  const { apiKey } = await deployedServer(service);
  const cancel = () => service.call('deleteDedicatedServer', { path: { identifier: RYZEN }, apiKey });
  const end: Statement = [`update dedicated_servers set state = 'ended', due = null, version = version + 1 where id = $1`, [RYZEN]];
  expect(await meet(end, 'commit', cancel)).toMatchObject({ status: 404, body: { type: 'not_found' } });
});

test('a sale that another transaction ends or sells out is not used by the purchase that waited for it', async () => {
  const { service, buy, meet } = await startContended();
  const provider = providerOf(service);
  const saleId = await provider.createSale({ maxVolume: 2 });
  const basis = async ({ status, body }: Awaited<ReturnType<typeof buy>>) => {
    expect(status).toBe(200);
    const { identifier } = body.data;
    return (await service.store.read((db) => db.selectFrom('vms').select('price_basis').where('id', '=', identifier).executeTakeFirst()))
      ?.price_basis;
  };
  expect(await basis(await meet(['update sales set used_volume = 2 where id = $1', [saleId]], 'commit', buy))).toBe('STANDARD');
  await service.store.commit(({ db }) => db.updateTable('sales').set({ used_volume: 0 }).where('id', '=', saleId).execute());
  expect(await basis(await meet(['update sales set used_volume = 2 where id = $1', [saleId]], 'rollback', buy))).toBe('SALE');
  expect(await basis(await meet(['update sales set ended = 1 where id = $1', [saleId]], 'commit', buy))).toBe('STANDARD');
  await service.store.commit(({ db }) => db.updateTable('sales').set({ ended: null }).where('id', '=', saleId).execute());
  await expect(
    meet(['update sales set ended = 1 where id = $1', [saleId]], 'commit', () => provider.endSale(saleId)),
  ).rejects.toMatchObject({
    status: 409,
    message: `The sale ${saleId} has already ended by hand.`,
  });
});

/** A domain of the first account, and its transfer to another one. */
async function startTransfer() {
  const contended = await startContended();
  const { service } = contended;
  const path = { domain: 'contended.net' };
  await register(service, path.domain);
  const { authcode } = (await service.call('requestDomainAuthcode', { path })).body.data;
  const buyer = await service.account();
  const handle = await handleOf(service, { apiKey: buyer.apiKey, phone: PHONE });
  const form = { ...path, handle, authcode };
  const { account_id: sellerId } = await service.store.read((db) =>
    db.selectFrom('domains').select('account_id').executeTakeFirstOrThrow(),
  );
  return { ...contended, path, buyer, sellerId, form, transfer: () => service.call('registerDomain', { form, apiKey: buyer.apiKey }) };
}

test.each([
  ['another transfer', 409, `update domains set account_id = $1, sealed_authcode = null, state = 'changing' where account_id <> $1`],
  ['a cancellation', 409, `update domains set terminated = 1, state = 'changing' where account_id <> $1`],
  ['a transfer lock', 409, `update domains set transfer_lock = 1 where account_id <> $1`],
  ['another auth code', 422, `update domains set sealed_authcode = 'another' where account_id <> $1`],
])('a transfer to an account that waited for %s is refused if that was committed, and carried out otherwise', async (_, status, change) => {
  const { service, meet, transfer, buyer } = await startTransfer();
  const third = await service.account();
  const statement: Statement = [change, [third.id]];
  const before = await service.call('getCredit', { apiKey: buyer.apiKey });
  expect((await meet(statement, 'commit', transfer)).status).toBe(status);
  expect((await service.call('getCredit', { apiKey: buyer.apiKey })).body.data).toEqual(before.body.data);
  await expectInvariants(service.store);
  const again = await startTransfer();
  expect((await again.meet([change, [(await again.service.account()).id]], 'rollback', again.transfer)).status).toBe(200);
  await expectInvariants(again.service.store);
});

const SIGNED = `dnssec_by = 'service', ds_records = '[{"keyTag":1,"algorithm":13,"digestType":2,"digest":"00"}]', delegation_settled = 4000000000`;
const REDIRECTED = `ns1 = 'ns1.reseller-dns.example', ns2 = 'ns2.reseller-dns.example', delegation_settled = 4000000000`;
test.each([
  ['other nameservers', SIGNED, 'setDomainNameservers'],
  ['a transfer to other nameservers', SIGNED, 'registerDomain'],
  ['DNSSEC', REDIRECTED, 'enableDomainDnssec'],
] as const)('%s: refused if what the registry has changed while the request waited, and carried out otherwise', async (_, changed, id) => {
  for (const [end, status] of [
    ['commit', 409],
    ['rollback', 200],
  ] as const) {
    const { service, meet, path, form, buyer } = await startTransfer();
    await service.runScheduledJobs();
    const others = { ns1: 'ns3.reseller-dns.example', ns2: 'ns4.reseller-dns.example' };
    const sent = {
      setDomainNameservers: { path, form: others },
      registerDomain: { form: { ...form, ...others }, apiKey: buyer.apiKey },
      enableDomainDnssec: { path },
    };
    const statement: Statement = [`update domains set ${changed} where name = $1`, [path.domain]];
    expect((await meet(statement, end, () => service.call(id, sent[id]))).status).toBe(status);
  }
});

test('a transfer locks its two accounts in the order of their identifiers, whichever of them has the domain', async () => {
  const orders = new Set<boolean>();
  for (let attempt = 0; attempt < 40 && orders.size < 2; attempt++) {
    const { service, other, isBlocking, transfer, buyer, sellerId } = await startTransfer();
    const [first = '', second = ''] = [buyer.id, sellerId].toSorted();
    if (orders.has(first === buyer.id)) continue;
    orders.add(first === buyer.id);
    const lock = (id: string) => other.query('update accounts set held = held where id = $1', [id]);
    await other.query('begin');
    await lock(first);
    const pending = transfer();
    pending.catch(() => {});
    await expect.poll(isBlocking).toBe(true);
    // The transfer has not locked the other account, or this would be a deadlock.
    await lock(second);
    await other.query('commit');
    expect((await pending).status).toBe(200);
    await expectInvariants(service.store);
  }
  expect(orders.size).toBe(2);
});

describe('prices for all VMs and a large order at the same time', () => {
  const pricesOf = (core: string) => ({ core, mem: '0', nvme: '0', hdd: '0', extra_ip: '0', extra_backup_slot: '0', extra_gbit: '0' });
  const path = { hostsystem: SMALL_VM.hostsystem };
  const HIGH = '5000000.01';
  const order = { ...SMALL_VM, cores: 2 };
  async function startExpensive() {
    const contended = await startContended({ creditLimit: '9999999.99' });
    const { client } = contended.service;
    await operator.scheduleHostSystemPrices({ client, path, body: { prices: pricesOf('3000000.00'), applies_to: 'new_purchases' } });
    return contended;
  }

  test('the prices are refused if the order was first', async () => {
    const { service, meet } = await startExpensive();
    const { identifier } = (await service.call('createVm', { form: { ...SMALL_VM, cores: 1 } })).body.data;
    // As a purchase of a second VM, which has locked the months and then stores the VM.
    const buy: Statement = [
      `with locked as (select pg_advisory_xact_lock_shared(hashtextextended('months', 27)))
      insert into vms select (jsonb_populate_record(vm, jsonb_build_object('id', $1::int))).* from vms as vm, locked where vm.id = $2`,
      [identifier + 1, identifier],
    ];
    const body = { prices: pricesOf(HIGH), applies_to: 'all_vms', valid_from: '2026-12-01T00:00:00Z' } as const;
    const schedule = () => operator.scheduleHostSystemPrices({ client: service.client, path, body });
    expect(await refusalOf(meet(buy, 'commit', schedule))).toMatchObject({
      status: 422,
      fields: [{ field: '#/prices', message: expect.stringContaining('would cost 10000000.02 EUR') }],
    });
    await service.store.commit(({ db }) =>
      db
        .deleteFrom('vms')
        .where('id', '=', identifier + 1)
        .execute(),
    );
    expect(await schedule()).toMatchObject({ state: 'scheduled' });
  });

  test('the order is refused if the prices were first', async () => {
    const { service, other, meet } = await startExpensive();
    // As the operation that stores the prices, which has locked the months and then checks the accounts.
    const raise: Statement = [
      `with locked as (select pg_advisory_xact_lock(hashtextextended('months', 27)))
      insert into host_system_prices select hostsystem, valid_from + 1000, $1, 'all_vms' from host_system_prices, locked
      where hostsystem = $2 order by valid_from desc limit 1`,
      [JSON.stringify(pricesOf(HIGH)), path.hostsystem],
    ];
    const refused = await meet(raise, 'commit', () => service.call('createVm', { form: order }));
    expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining('would cost 10000000.02 EUR')]);
    expect(await countVms(service)).toBe(0);
    await other.query(`delete from host_system_prices where applies_to = 'all_vms'`);
    expect((await service.call('createVm', { form: order })).status).toBe(200);
  });
});
