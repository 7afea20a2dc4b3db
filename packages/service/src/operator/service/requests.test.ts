/** The requests of all accounts: found, followed, and with what they did. */
import {
  followRequests,
  getAccountRequest,
  issueApiKey,
  listApiKeys,
  listInvoices,
  listRequests,
  setCreditLimit,
} from '@reseller/operator-client';
import type { RequestSummary } from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { goodCall } from '../../../test/good-calls.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { TestHypervisor } from '../../../test/ports/hypervisor.ts';
import { PortCalls } from '../../../test/ports/port-calls.ts';
import { apiOperations } from '../../http/reseller/api.ts';

/** The account of the key that `call` sends. */
async function accountOf({ client, call }: TestOperator): Promise<string> {
  await call('listDomains');
  return (await listRequests({ client })).items.find(({ endpoint }) => endpoint === '/domain/list')?.account_id ?? '';
}

/** The endpoints of all pages. */
async function found({ client }: TestOperator, query: Parameters<typeof listRequests>[0]['query'] = {}): Promise<string[]> {
  const endpoints: string[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await listRequests({ client, query: { ...query, ...(typeof cursor === 'string' ? { cursor } : {}) } });
    endpoints.push(...page.items.map(({ endpoint }) => endpoint));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return endpoints;
}

describe.each(engines)('on %s', (engine) => {
  test('says in words why a request was refused, also when the same response is stored once for several', async () => {
    const service = await startOperator({ engine });
    const messages = [];
    for (const form of [SMALL_VM, { ...SMALL_VM, cores: 64 }, { ...SMALL_VM, cores: 64 }, { ...SMALL_VM, cores: 64 }]) {
      const { status, body } = await service.call('createVm', { form });
      messages.unshift(status === 200 ? null : body.message);
    }
    const { items } = await listRequests({ client: service.client });
    expect(items.map(({ error_message: message }) => message)).toEqual(messages);
    expect(messages).toEqual([expect.stringContaining('cores'), messages[0], messages[0], null]);
  });

  test('lists the requests of all accounts in pages, and finds them by what they did', async () => {
    const service = await startOperator({ engine, tuning: { searchedEntries: 2 } });
    const { client, clock } = service;
    const other = await service.account();
    expect(await found(service)).toEqual([]);
    await service.call('listDomains');
    clock.advance(600_000);
    await service.call('listHandleCountries', { apiKey: other.apiKey });
    const middle = new Date(clock.now() - 1).toISOString();
    clock.advance(600_000);
    await service.call('checkDomain', { path: { domain: 'no domain' } });
    await service.call('createVm', { form: SMALL_VM });
    const all = await found(service);
    expect(all).toEqual(['/vm/create', expect.stringMatching(/^\/domain\//), '/domain/handle/countries', '/domain/list']);
    expect(await found(service, { limit: 1 })).toEqual(all);
    expect(await found(service, { account_id: other.id })).toEqual(['/domain/handle/countries']);
    expect(await found(service, { result: 'failed' })).toEqual(all.slice(1, 2));
    const [refused] = (await listRequests({ client, query: { result: 'failed' } })).items;
    expect(refused?.error_type).not.toBe(null);
    expect(refused?.error_message).toMatch(/ domain /);
    expect(await found(service, { status: refused?.status ?? 0 })).toEqual(all.slice(1, 2));
    expect(await found(service, { endpoint: '/domain/h' })).toEqual(all.slice(2, 3));
    expect(await found(service, { from: middle })).toEqual(all.slice(0, 3));
    expect(await found(service, { to: middle })).toEqual(all.slice(3));
    expect(await found(service, { from: middle, to: middle })).toEqual([]);
    const { items } = await listRequests({ client, query: { account_id: other.id } });
    const [one] = items;
    const { items: keys } = await listApiKeys({ client, path: { account_id: other.id } });
    expect(one?.api_key_id).toBe(keys[0]?.id);
    expect(await found(service, { request_id: one?.request_id ?? '' })).toEqual(['/domain/handle/countries']);
    expect(await found(service, { api_key_id: one?.api_key_id ?? '' })).toEqual(['/domain/handle/countries']);
  });

  test(
    'gives each of thousands of requests exactly once to a reader who follows them, in the order of each log',
    // A usual run has the engine on which two instances number entries.
    { tags: engine === 'postgres' ? [] : 'deep' },
    async () => {
      const service = await startOperator({ engine, tuning: { logGroup: 7, logBatch: 11 } });
      // On PostgreSQL, a second instance numbers entries at the same time.
      const instances = engine === 'postgres' ? [service, await startOperator({ place: service.directory, engine })] : [service];
      const accounts = [await service.account(), await service.account(), await service.account()];
      let { next_cursor: cursor } = await followRequests({ client: service.client });
      const seen: RequestSummary[] = [];
      async function read(): Promise<number> {
        const { items, next_cursor } = await followRequests({ client: service.client, query: { cursor, limit: 200 } });
        seen.push(...items);
        cursor = next_cursor;
        return items.length;
      }
      const sent = { open: true };
      const reading = (async () => {
        while (sent.open || (await read()) > 0) await read();
      })();
      const each = Array.from({ length: 20 }, async (_, lane) => {
        const instance = instances[lane % instances.length] ?? service;
        const { apiKey } = accounts[lane % accounts.length] ?? {};
        for (let n = 0; n < 100; n++)
          await (n % 20 === 0
            ? instance.call('createHandle', { apiKey: apiKey ?? '', form: HANDLE })
            : instance.call('listHandleCountries', { apiKey: apiKey ?? '' }));
      });
      await Promise.all(each);
      sent.open = false;
      await reading;
      expect(seen).toHaveLength(2_000);
      expect(new Set(seen.map(({ request_id: id }) => id)).size).toBe(2_000);
      for (const { id } of accounts) {
        const numbers = seen.filter(({ account_id }) => account_id === id).map(({ number }) => number);
        expect(numbers).toEqual(numbers.map((_, index) => index + 1));
      }
    },
  );

  test('ends its response while others write faster than entries are numbered', { tags: 'deep' }, async () => {
    const { call, client, account } = await startOperator({ engine, tuning: { logBatch: 1 } });
    const { apiKey } = await account();
    const reader = { isDone: false };
    const writers = Array.from({ length: 20 }, async () => {
      while (!reader.isDone) await call('listHandleCountries', { apiKey });
    });
    try {
      let read = 0;
      for (let cursor: string | undefined; read === 0;) {
        const { items, next_cursor } = await followRequests({ client, query: { ...(cursor !== undefined && { cursor }) } });
        read += items.length;
        cursor = next_cursor;
      }
      expect((await call('listRequests', { apiKey })).status).toBe(200);
    } finally {
      reader.isDone = true;
      await Promise.all(writers);
    }
  });

  test('shows what a purchase cost and made, its key, and the line that bills it', async () => {
    const service = await startOperator({ engine });
    const { client, clock } = service;
    const account_id = await accountOf(service);
    clock.advance(1_000);
    const { id: keyId, key } = await issueApiKey({ client, path: { account_id }, body: { label: 'Shop' } });
    const idempotencyKey = 'order-4711';
    const start = new Date(Math.floor(clock.now() / 1000) * 1000).toISOString();
    const bought = await service.call('createVm', { apiKey: key, form: SMALL_VM, idempotencyKey });
    await service.call('createVm', { apiKey: key, form: SMALL_VM, idempotencyKey });
    const { items } = await listRequests({ client, query: { idempotency_key: idempotencyKey } });
    const purchase = { kind: 'vm', subject: String(bought.body.data.identifier), price: '10.40' };
    expect(items).toMatchObject([
      { status: 200, api_key_id: keyId, is_replay: true, bought: null, number: 3 },
      { status: 200, api_key_id: keyId, is_replay: false, bought: purchase, number: 2 },
    ]);
    expect(items[1]?.duration_ms).toBeGreaterThan(0);
    const path = { account_id, number: 2 };
    const position = { type: 'CREATE', start, stop: null, invoice_id: null, invoice_number: null };
    expect(await getAccountRequest({ client, path })).toMatchObject({ idempotency_key: idempotencyKey, bought: purchase, position });
    clock.advanceTo('2026-12-01T00:00:00Z');
    await service.runScheduledJobs();
    const [invoice] = (await listInvoices({ client })).items;
    expect(await getAccountRequest({ client, path })).toMatchObject({
      position: { ...position, stop: '2026-12-01T00:00:00.000Z', invoice_id: invoice?.id, invoice_number: invoice?.number },
    });
    expect(JSON.stringify(await getAccountRequest({ client, path }))).not.toContain(key);
  });
});

test('an entry that becomes readable after entries with later places is not skipped', { tags: 'outer' }, async () => {
  const service = await startOperator({ engine: 'postgres' });
  const { client, store } = service;
  const [slow, fast] = [await service.account(), await service.account()];
  // The first entry of a month creates its partition, for which others wait.
  await service.call('listHandleCountries', { apiKey: slow.apiKey });
  await followRequests({ client });
  const { next_cursor: cursor } = await followRequests({ client });
  await service.call('listHandleCountries', { apiKey: slow.apiKey });
  const numbered = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const numbering = store.commit(async ({ db }) => {
    await store.requestLog.number(db, slow.id);
    numbered.resolve();
    await ended.promise;
  });
  await numbered.promise;
  await service.call('listHandleCountries', { apiKey: fast.apiKey });
  const before = await followRequests({ client, query: { cursor } });
  ended.resolve();
  await numbering;
  const after = await followRequests({ client, query: { cursor: before.next_cursor } });
  expect([...before.items, ...after.items].map(({ account_id: id }) => id).toSorted()).toEqual([slow.id, fast.id].toSorted());
});

const HANDLE = {
  gender: 'MALE',
  firstname: 'Jo',
  lastname: 'Example',
  street: 'Musterallee',
  number: '1',
  zipcode: '60311',
  city: 'Frankfurt',
  region: 'Hessen',
  countrycode: 'DE',
  email: 'jo@example.com',
};

// A request can wait for the infrastructure twice: for a call, and for the one that undoes it.
test.each([
  { seconds: 30, longest: 120_000 },
  { seconds: 3_600, longest: 7_260_000 },
])('finds a request by its time if it took at most twice the timeout of $seconds s and a minute', async ({ seconds, longest }) => {
  const calls = new PortCalls();
  const service = await startOperator({ hypervisor: new TestHypervisor(calls), portTimeout: seconds * 1000 });
  const foundAfter = async (duration: number) => {
    const { id: account_id, apiKey } = await service.account();
    const hanging = Promise.withResolvers<{ end(outcome: 'continues'): void }>();
    calls.onHang = hanging.resolve;
    calls.plan = ['hangs before'];
    const begun = service.clock.now();
    const slow = service.call('createVm', { form: SMALL_VM, apiKey });
    const call = await hanging.promise;
    service.clock.advance(duration);
    // The slow request is stored after these, although it began before them. A search that bisects the log by date meets one of these first.
    for (let read = 0; read < 3; read++) await service.call('listDomains', { apiKey });
    call.end('continues');
    await slow;
    await service.call('listDomains', { apiKey });
    const times = { from: new Date(begun).toISOString(), to: new Date(begun + 1).toISOString() };
    service.clock.advance(1_000);
    return { ofAccount: await found(service, { ...times, account_id }), ofAll: await found(service, times) };
  };
  const both = { ofAccount: ['/vm/create'], ofAll: ['/vm/create'] };
  expect(await foundAfter(longest - 1)).toEqual(both);
  expect(await foundAfter(longest)).toEqual(both);
  // The log of all accounts may show it, because its places depend on the time of the machine.
  expect((await foundAfter(longest + 1)).ofAccount).toEqual([]);
});

test('a key that was sent as the Idempotency-Key is not in the log', async () => {
  const service = await startOperator();
  const { client } = service;
  await service.call('createVm', { form: SMALL_VM, idempotencyKey: service.apiKey });
  const [entry] = (await listRequests({ client })).items;
  const { idempotency_key: shown } = await getAccountRequest({ client, path: { account_id: entry?.account_id ?? '', number: 1 } });
  expect(shown).not.toContain(service.apiKey);
});

test('a place in the feed is not used again after the newest entries were deleted and the service was restarted', async () => {
  const service = await startOperator();
  const other = await service.account();
  await service.call('listDomains');
  const { next_cursor: cursor } = await followRequests({ client: service.client });
  await service.call('listDomains', { apiKey: other.apiKey });
  const { items, next_cursor: later } = await followRequests({ client: service.client, query: { cursor } });
  expect(items.map(({ account_id: id }) => id)).toEqual([other.id]);
  await service.store.commit(({ db }) => db.deleteFrom('request_log').where('account_id', '=', other.id).execute());
  await service.end();
  const again = await startOperator({ place: service.directory });
  await again.call('listDomains', { apiKey: service.apiKey });
  expect((await followRequests({ client: again.client, query: { cursor: later } })).items).toHaveLength(1);
});

test('a reader who follows learns of each change by an operator once, and of no read', async () => {
  const service = await startOperator();
  const { client } = service;
  const account_id = await accountOf(service);
  const { next_cursor: cursor } = await followRequests({ client });
  await getAccountRequest({ client, path: { account_id, number: 1 } });
  await setCreditLimit({ client, path: { account_id }, body: { credit_limit: '20.00' } });
  const followed = await followRequests({ client, query: { cursor } });
  expect(followed.changes).toEqual([{ time: expect.any(String), operation: 'setCreditLimit', target: account_id }]);
  expect((await followRequests({ client, query: { cursor: followed.next_cursor } })).changes).toEqual([]);
});

test('returns one request with its bodies, and records who read it', async () => {
  const service = await startOperator();
  const { client } = service;
  const path = { account_id: await accountOf(service), number: 1 };
  expect(await getAccountRequest({ client, path })).toMatchObject({
    endpoint: '/domain/list',
    request_body: '{}',
    response_body: expect.stringMatching(/^\{"status":"success"/),
  });
  expect(await refusalOf(getAccountRequest({ client, path: { ...path, number: 2 } }))).toMatchObject({ status: 404 });
  const records = await service.store.read((db) => db.selectFrom('audit_records').select('operation').execute());
  expect(records).toEqual([{ operation: 'getAccountRequest' }]);
});

/** Operations that charge at once. A withdrawn cancellation is charged with the renewal. */
const PURCHASES = apiOperations.filter(({ id, operation }) => operation.billable && !id.startsWith('undelete')).map(({ id }) => id);

test.for(PURCHASES)('the log entry of %s has what it bought, with its price', async (id) => {
  const service = await startOperator({ creditLimit: '100000.00' });
  const { client } = service;
  const owner = await service.account('100000.00');
  const sent = await goodCall(service, id, owner);
  expect((await service.call(id, { ...sent, apiKey: owner.apiKey })).status).toBe(200);
  const [entry] = (await listRequests({ client, query: { account_id: owner.id } })).items;
  expect(entry?.bought).toMatchObject({ kind: expect.any(String), subject: expect.any(String), price: expect.any(String) });
});
