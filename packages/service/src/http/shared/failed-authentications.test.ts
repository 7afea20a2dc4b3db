import { setImmediate } from 'node:timers/promises';

import * as operator from '@reseller/operator-client';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import { TestClock } from '../../../test/ports/clock.ts';
import { seededStore } from '../../../test/shared-store.ts';
import { createAccount } from '../../index.ts';
import { simulatedPorts } from '../../ports/simulated.ts';
import type { Store } from '../../store/store.ts';
import { createKeyUse } from '../reseller/key-use.ts';
import { createFailedAuthentications } from './failed-authentications.ts';
import { createRefusedRequests } from './refused-requests.ts';

describe.each(engines)('on %s', (engine) => {
  test('lists failed authentications by minute and network, and stores a bounded number of groups', async () => {
    const service = await startOperator({ engine, trustedProxies: ['127.0.0.1'] });
    const { client } = service;
    const guess = (address: string) =>
      service.send('/domain/list', { headers: { 'x-service-apikey': 'guess', 'x-forwarded-for': address } });
    for (let number = 0; number < 3; number++) await guess('203.0.113.1');
    await guess('2001:db8:0:1::1');
    await guess('2001:db8:0:1::2');
    await service.operate('/accounts', { headers: { authorization: 'Bearer guess', 'x-forwarded-for': '203.0.113.1' } });
    for (let number = 0; number < 100; number++) await guess(`198.51.100.${number}`);
    await service.runScheduledJobs();
    const { items } = await operator.listFailedAuthentications({ client, query: { limit: 100 } });
    expect(items.map(({ api, network, count }) => [api, network, count])).toEqual(
      expect.arrayContaining([
        ['reseller', '203.0.113.1', 3],
        ['reseller', '2001:db8::1:0:0:0:0/64', 2].with(1, expect.stringMatching(/^2001:db8/)),
        ['operator', '203.0.113.1', 1],
        ['reseller', 'others', 82],
      ]),
    );
    expect(items).toHaveLength(22);
    expect(items.reduce((sum, { count }) => sum + count, 0)).toBe(106);
    const minute = new Date(Math.floor(service.clock.now() / 60_000) * 60_000).toISOString();
    expect(new Set(items.map((item) => item.minute))).toEqual(new Set([minute]));
  });
});

test('counts of requests and last uses of keys that could not be stored are stored with the next ones', async () => {
  const service = await startOperator();
  const { client, store } = service;
  const { id, apiKey } = await service.account();
  const run = (statement: string) => store.commit(({ db }) => sql.raw(statement).execute(db));
  const guess = () => service.send('/domain/list', { headers: { 'x-service-apikey': 'guess' } });
  await run(`create trigger no_counts before insert on failed_authentications begin select raise(abort, 'disk'); end`);
  await run(`create trigger no_uses before update of last_used on api_keys begin select raise(abort, 'disk'); end`);
  await guess();
  await service.call('listDomains', { apiKey });
  const used = new Date(service.clock.now()).toISOString();
  await service.runScheduledJobs();
  expect(await operator.listFailedAuthentications({ client })).toMatchObject({ items: [] });
  await run('drop trigger no_counts');
  await run('drop trigger no_uses');
  await guess();
  await service.runScheduledJobs();
  expect(await operator.listFailedAuthentications({ client })).toMatchObject({ items: [{ api: 'reseller', count: 2 }] });
  expect(await operator.listApiKeys({ client, path: { account_id: id } })).toMatchObject({ items: [{ last_used: used }] });
});

/** A store whose writes end after `release`. */
function heldStore(store: Store) {
  const [done, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  function held<Arguments extends readonly unknown[], Result>(write: (...given: Arguments) => Promise<Result>) {
    return async (...given: Arguments): Promise<Result> => {
      const result = await write(...given);
      done.resolve();
      await released.promise;
      return result;
    };
  }
  const { append } = store.requestLog;
  const commit: Store['commit'] = (work, options) => held(() => store.commit(work, options))();
  return { store: { ...store, commit, requestLog: { ...store.requestLog, append: held(append) } }, done: done.promise, ...released };
}

/** Notes something of an account, which is stored later. */
const NOTES: Readonly<Record<string, (store: Store, accountId: string) => Record<'flush' | 'close', () => Promise<void>>>> = {
  'failed authentications'(store) {
    const counts = createFailedAuthentications(store, new TestClock(), unexpected);
    counts.note('reseller', '203.0.113.1');
    return counts;
  },
  'last uses of keys'(store) {
    const uses = createKeyUse(store, new TestClock(), unexpected);
    uses.note('a key');
    return uses;
  },
  'requests beyond a rate limit'(store, accountId) {
    const refused = createRefusedRequests(store, unexpected);
    const request = { method: 'GET', path: '/domain/list', form: '{}', maskKey: (text: string) => text, idempotencyKey: undefined };
    for (const id of ['first', 'second']) {
      const logged = { ...request, id, accountId, keyId: 'a key', now: 0, elapsed: () => 0 };
      void refused.log('a key', logged, { status: 429, body: '{}', loggedBody: '{}', errorType: 'rate_limited' });
    }
    return { flush: refused.flush, close: refused.flush };
  },
};

function unexpected(error: unknown): never {
  throw error;
}

test.each(Object.entries(NOTES))('a service that stops waits for %s that are just being stored', async (_, note) => {
  const seeded = await seededStore();
  const ports = simulatedPorts({ clock: new TestClock() });
  const accountId = await seeded.commit(({ db }) => createAccount(db, ports, { name: 'stops', creditLimit: 0n }));
  const { store, done, resolve: release } = heldStore(seeded);
  const { flush, close } = note(store, accountId);
  const stored = flush();
  let isClosed = false;
  async function stop(): Promise<void> {
    await close();
    isClosed = true;
  }
  const stopped = stop();
  await done;
  await setImmediate();
  expect(isClosed).toBe(false);
  release();
  await Promise.all([stored, stopped]);
});

test('a token that is refused again and again leaves ten records a minute', async () => {
  const service = await startOperator();
  const { client } = service;
  const { id, token } = await operator.createOperatorToken({ client, body: { name: 'Curious', scopes: ['read'] } });
  const curious = service.clientWith(token);
  for (let number = 0; number < 30; number++)
    await refusalOf(operator.eraseAccount({ client: curious, path: { account_id: '01900000-0000-7000-8000-00000000ffff' } }));
  expect((await operator.listAuditRecords({ client, query: { actor: id, limit: 100 } })).items).toHaveLength(10);
});
