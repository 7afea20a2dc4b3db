/** Transfers between accounts of the service. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { tablesWith } from '../../../test/contents.ts';
import { footprint, handleOf, PHONE, register } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import type { TestService } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { startOperator } from '../../../test/operator.ts';

const DOMAIN = 'reseller-customer.net';
const path = { domain: DOMAIN };
const RECORD = { type: 'A', sub: 'www', data: '198.51.100.23' };

/** A domain of the first account, its auth code, and a second account that wants it. */
async function startMove(given: Parameters<typeof startOperator>[0] = {}) {
  const service = await startOperator(given);
  await register(service, DOMAIN);
  const { authcode } = (await service.call('requestDomainAuthcode', { path })).body.data;
  const sellerId = (await service.store.read((db) => db.selectFrom('domains').select('account_id').executeTakeFirstOrThrow())).account_id;
  const buyer = await service.account();
  const { apiKey } = buyer;
  const handle = await handleOf(service, { apiKey, phone: PHONE });
  const form = { domain: DOMAIN, handle, authcode };
  return {
    service,
    authcode,
    sellerId,
    buyer,
    handle,
    form,
    take: (changed: object = {}, idempotencyKey?: string) =>
      service.call('registerDomain', { form: { ...form, ...changed }, apiKey, ...(idempotencyKey !== undefined && { idempotencyKey }) }),
    shownTo: (key?: string) => service.call('getDomain', { path, ...(key !== undefined && { apiKey: key }) }),
    eventsOf: async (key?: string) => {
      await service.runScheduledJobs();
      const { body } = await service.call('listEvents', { form: {}, ...(key !== undefined && { apiKey: key }) });
      return body.data.events.filter(({ subject }: { subject: string }) => subject === `domain/${DOMAIN}`);
    },
  };
}

const creditOf = async (service: TestService, apiKey = service.apiKey): Promise<object> =>
  (await service.call('getCredit', { apiKey })).body.data;

describe.each(engines)('on %s', (engine) => {
  test('an auth code that the service has issued moves a domain to another account', async () => {
    const { service, buyer, handle, take, shownTo, eventsOf } = await startMove({ engine });
    await service.call('editDomainDns', { path, form: RECORD });
    const before = (await shownTo()).body.data;
    const [seller, other] = [await creditOf(service), await creditOf(service, buyer.apiKey)];
    await eventsOf();
    const { status, body } = await take({ ns1: 'ns1.reseller-dns.example', ns2: 'ns2.reseller-dns.example' });
    expect([status, body.message]).toEqual([200, 'The domain was transferred.']);
    expect(body.data).toEqual({
      domain: { ...before.domain, authcode: null },
      handle: { ownerC: handle, adminC: handle, techC: handle, zoneC: handle },
      nameserver: { ns1: 'ns1.reseller-dns.example', ns2: 'ns2.reseller-dns.example', ns3: null, ns4: null, ns5: null },
      timings: before.timings,
    });
    expect((await shownTo()).status).toBe(404);
    expect((await service.call('listDomains')).body.data.list).toEqual([]);
    expect((await shownTo(buyer.apiKey)).body.data).toEqual(body.data);
    const records = (await service.call('listDomainDns', { path, apiKey: buyer.apiKey })).body.data;
    expect(records).toMatchObject([{ type: RECORD.type, name: `${RECORD.sub}.${DOMAIN}`, data: RECORD.data }]);
    expect(service.registrar.domains.get(DOMAIN)).toMatchObject({
      contact: { handle },
      nameservers: ['ns1.reseller-dns.example', 'ns2.reseller-dns.example'],
      authcode: null,
      renewed: true,
    });
    expect([await creditOf(service), await creditOf(service, buyer.apiKey)]).toEqual([seller, other]);
    expect(await eventsOf()).toMatchObject([{ type: 'domain.registered' }, { type: 'domain.transferred', data: { domain: DOMAIN } }]);
    expect(JSON.stringify(await eventsOf())).not.toContain(handle);
    expect(await eventsOf(buyer.apiKey)).toMatchObject([{ type: 'domain.registered', data: { domain: DOMAIN, handle } }]);
    // Nothing is in progress, so the new account can change the domain.
    expect((await service.call('requestDomainAuthcode', { path, apiKey: buyer.apiKey })).status).toBe(200);
    await expectInvariants(service.store);
  });

  test('renews a moved domain for its new account, whose credit holds a renewal of this month', async () => {
    const { service, buyer, take } = await startMove({ engine });
    service.clock.advanceTo('2027-11-05T00:00:00Z');
    await service.runScheduledJobs();
    const { authcode } = (await service.call('requestDomainAuthcode', { path })).body.data;
    const remaining = async (apiKey: string) => (await service.call('getCurrentInvoice', { apiKey })).body.data.creditLimitRemaining;
    const [seller, other] = [await remaining(service.apiKey), await remaining(buyer.apiKey)];
    expect((await take({ authcode })).status).toBe(200);
    expect([await remaining(service.apiKey), await remaining(buyer.apiKey)]).toEqual([seller + 12, other - 12]);
    service.clock.advanceTo('2027-11-10T12:03:17Z');
    await service.runScheduledJobs();
    expect([await remaining(service.apiKey), await remaining(buyer.apiKey)]).toEqual([seller + 12, other - 12]);
    const charges = await service.store.read((db) => db.selectFrom('charges').select(['account_id', 'type']).orderBy('start').execute());
    expect(charges.map(({ account_id, type }) => [account_id === buyer.id, type])).toEqual([
      [false, 'CREATE'],
      [true, 'RENEW'],
    ]);
    await expectInvariants(service.store);
  });

  test('refuses a transfer whose renewal of this month needs more credit than the new account has', async () => {
    const { service, buyer, take } = await startMove({ engine });
    service.clock.advanceTo('2027-11-05T00:00:00Z');
    await service.runScheduledJobs();
    const { authcode } = (await service.call('requestDomainAuthcode', { path })).body.data;
    const limit = (credit_limit: number) =>
      service.store.commit(({ db }) => db.updateTable('accounts').set({ credit_limit }).where('id', '=', buyer.id).execute());
    await limit(1_199_000_000);
    const before = await footprint(service);
    expect(await take({ authcode })).toMatchObject({ status: 402, body: { type: 'credit_limit_exceeded' } });
    expect(await footprint(service)).toEqual(before);
    await limit(1_200_000_000);
    expect((await take({ authcode })).status).toBe(200);
    await expectInvariants(service.store);
  });

  test('two accounts that use the same auth code at once: one gets the domain', async () => {
    const { service, form, take } = await startMove({ engine });
    const { apiKey } = await service.account();
    const handle = await handleOf(service, { apiKey, phone: PHONE });
    const replies = await Promise.all([take(), service.call('registerDomain', { form: { ...form, handle }, apiKey })]);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.every(({ status }) => [200, 409, 422].includes(status))).toBe(true);
    await service.runScheduledJobs();
    await expectInvariants(service.store);
  });

  test('two accounts that take domains from each other at once both get them', async () => {
    const { service, buyer, take } = await startMove({ engine });
    await register(service, 'in-return.net', buyer.apiKey);
    const returned = { domain: 'in-return.net' };
    for (let round = 0; round < 5; round++) {
      const { authcode } = (await service.call('requestDomainAuthcode', { path })).body.data;
      const other = (await service.call('requestDomainAuthcode', { path: returned, apiKey: buyer.apiKey })).body.data;
      const own = await handleOf(service);
      const replies = await Promise.all([
        take({ authcode }),
        service.call('registerDomain', { form: { ...returned, handle: own, authcode: other.authcode } }),
      ]);
      expect(replies.map(({ status }) => status)).toEqual([200, 200]);
      await service.runScheduledJobs();
      // Back to where they were.
      const back = (await service.call('requestDomainAuthcode', { path, apiKey: buyer.apiKey })).body.data;
      const again = (await service.call('requestDomainAuthcode', { path: returned })).body.data;
      expect((await service.call('registerDomain', { form: { ...path, handle: own, authcode: back.authcode } })).status).toBe(200);
      expect((await take({ ...returned, authcode: again.authcode })).status).toBe(200);
    }
    await expectInvariants(service.store);
  });

  test('a transfer and a cancellation at once: the domain belongs to one account, and its renewal is held there alone', async () => {
    const { service, buyer, take, shownTo } = await startMove({ engine });
    const [moved, cancelled] = await Promise.all([take(), service.call('deleteDomain', { path })]);
    await service.runScheduledJobs();
    expect([
      [200, 404],
      [200, 409],
      [409, 200],
      // The cancellation has ended before the transfer began, which withdraws it.
      [200, 200],
    ]).toContainEqual([moved.status, cancelled.status]);
    const owner = moved.status === 200 ? buyer.apiKey : service.apiKey;
    const { domain } = (await shownTo(owner)).body.data;
    expect(domain.terminated).toBe(moved.status !== 200);
    expect(service.registrar.domains.get(DOMAIN)?.renewed).toBe(!domain.terminated);
    await expectInvariants(service.store);
  });
});

test('a repeated request gets the stored response, and a used code moves nothing', async () => {
  const { take, service, handle } = await startMove();
  const first = await take({}, 'one');
  expect((await take({}, 'one')).body).toEqual(first.body);
  const { apiKey } = await service.account();
  const other = await handleOf(service, { apiKey, phone: PHONE });
  expect(other).not.toBe(handle);
  const again = await service.call('registerDomain', { form: { domain: DOMAIN, handle: other, authcode: 'used-up-code-123' }, apiKey });
  expect(again).toMatchObject({ status: 422, body: { data: { fields: [{ field: 'authcode', rule: 'accepted' }] } } });
});

test.each([
  ['a wrong code', { authcode: 'example-authcode-1' }],
  ['the code with a character more', (code: string) => ({ authcode: `${code}x` })],
  ['the code with a character less', (code: string) => ({ authcode: code.slice(1) })],
])('%s is refused with 422, and changes nothing', async (_, changed) => {
  const { service, authcode, take } = await startMove();
  const before = await footprint(service);
  const { status, body } = await take(typeof changed === 'function' ? changed(authcode) : changed);
  expect({ status, fields: body.data.fields }).toEqual({
    status: 422,
    fields: [{ field: 'authcode', rule: 'accepted', message: expect.stringContaining('current provider') }],
  });
  expect(await footprint(service)).toEqual(before);
});

test('an earlier code is refused, and so is any code of a domain that has none', async () => {
  const { service, authcode, take } = await startMove();
  await service.call('requestDomainAuthcode', { path });
  expect((await take()).status).toBe(422);
  await register(service, 'without-code.net');
  expect((await take({ domain: 'without-code.net', authcode })).status).toBe(422);
});

test('a locked domain is not transferred, until its account removes the lock', async () => {
  const { service, take } = await startMove();
  const lock = (transfer_lock: boolean) => service.call('setDomainTransferLock', { path, form: { transfer_lock } });
  await lock(true);
  const before = await footprint(service);
  expect(await take()).toMatchObject({ status: 409, body: { type: 'wrong_state', message: expect.stringContaining('transfer lock') } });
  expect((await take({ authcode: 'wrong' })).status).toBe(422);
  expect(await footprint(service)).toEqual(before);
  await lock(false);
  expect((await take()).status).toBe(200);
});

test('the domain of a suspended account is not transferred', async () => {
  const { service, sellerId, take } = await startMove();
  await service.store.commit(({ db }) =>
    db.updateTable('accounts').set({ suspended_at: 1, suspension_reason: 'unpaid' }).where('id', '=', sellerId).execute(),
  );
  expect(await take()).toMatchObject({ status: 409, body: { message: expect.stringContaining('suspended') } });
});

test('an account that has the domain is told so', async () => {
  const { service, authcode } = await startMove();
  const form = { domain: DOMAIN, handle: await handleOf(service), authcode };
  expect(await service.call('registerDomain', { form })).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining('belongs to this account') },
  });
});

test('a transfer ends a cancellation', async () => {
  const { service, buyer, take, shownTo } = await startMove();
  await service.call('deleteDomain', { path });
  expect((await take()).status).toBe(200);
  expect((await shownTo(buyer.apiKey)).body.data.domain.terminated).toBe(false);
  expect(service.registrar.domains.get(DOMAIN)?.renewed).toBe(true);
});

test('calls a registrar that fails until it succeeds, and no other change begins before', async () => {
  const { service, buyer, handle, take, shownTo } = await startMove();
  service.registrar.failing = new Error('no');
  expect((await take()).status).toBe(200);
  expect((await shownTo(buyer.apiKey)).status).toBe(200);
  expect((await service.call('requestDomainAuthcode', { path, apiKey: buyer.apiKey })).status).toBe(409);
  await service.runScheduledJobs();
  expect(service.registrar.domains.get(DOMAIN)).toMatchObject({ contact: { handle }, authcode: null });
  expect((await service.call('requestDomainAuthcode', { path, apiKey: buyer.apiKey })).status).toBe(200);
});

test('a quote says that a transfer between accounts costs nothing, and what credit its renewal needs', async () => {
  const { service, buyer, form } = await startMove();
  const quote = async (changed: object = {}) =>
    (await service.call('quoteRegisterDomain', { form: { ...form, ...changed }, apiKey: buyer.apiKey })).body.data;
  expect(await quote()).toMatchObject({ price: { net: 0, gross: 0 }, untilPeriodEnd: { net: 0 }, neededCredit: 0 });
  // It says the same for every code, so that nobody can try codes with it.
  expect(await quote({ authcode: 'wrong' })).toEqual(await quote());
  service.clock.advanceTo('2027-11-05T00:00:00Z');
  await service.runScheduledJobs();
  expect(await quote()).toMatchObject({ price: { net: 0 }, untilPeriodEnd: { net: 12 }, neededCredit: 12 });
});

test('a cancelled domain costs nothing until the second in which it expires, and from then on what a transfer costs', async () => {
  const { service, buyer, form } = await startMove();
  await service.call('deleteDomain', { path });
  const { expires } = await service.store.read((db) => db.selectFrom('domains').select('expires').executeTakeFirstOrThrow());
  const quote = async () => (await service.call('quoteRegisterDomain', { form, apiKey: buyer.apiKey })).body.data;
  service.clock.advanceTo(new Date(expires * 1000 - 1).toISOString());
  expect(await quote()).toMatchObject({ price: { net: 0 } });
  service.clock.advance(1);
  const { price, neededCredit } = await quote();
  expect([price.net, neededCredit]).toEqual([11, 11]);
});

test('keeps the auth code out of the store and the log', async () => {
  const { service, authcode, take } = await startMove();
  expect((await take({}, 'one')).status).toBe(200);
  expect(await tablesWith(service.store, authcode)).toEqual([]);
});

test('the export of the new account has the domain, and that of the first one no longer does', async () => {
  const { service, sellerId, buyer, take } = await startMove();
  const hasDomain = async (account_id: string) =>
    JSON.stringify((await operator.exportAccount({ client: service.client, path: { account_id } })).tables['domains']).includes(DOMAIN);
  expect([await hasDomain(sellerId), await hasDomain(buyer.id)]).toEqual([true, false]);
  await take();
  expect([await hasDomain(sellerId), await hasDomain(buyer.id)]).toEqual([false, true]);
});
