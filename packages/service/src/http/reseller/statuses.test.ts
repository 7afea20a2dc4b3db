/** Responses that all operations share, for every operation of the document. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { sql } from 'kysely';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import type { Sent } from '../../../test/http-client.ts';
import { apiOperations } from './api.ts';

const anyPath = {
  vmid: '12345',
  identifier: '01900000-0000-7000-8000-00000000ffff',
  domain: 'example.net',
  record_id: '01900000-0000-7000-8000-00000000eeee',
  handle: 'XX0000',
  invoiceID: 'none',
  key_id: '01900000-0000-7000-8000-00000000dddd',
  backup_id: '01900000-0000-7000-8000-00000000bbbb',
  ip_address: '198.51.100.1',
  ssh_key_id: '01900000-0000-7000-8000-00000000cccc',
  webhook_id: '01900000-0000-7000-8000-00000000aaaa',
  delivery_id: '12345',
};

/** A body that the schema of the operation accepts, from the examples of the document. */
function exampleOf(id: string): Sent {
  const form = apiOperations.find((api) => api.id === id)?.operation.form;
  const [example] = Object.values(form?.examples ?? {});
  return { path: anyPath, ...(example ? { form: Object(example.value) } : {}) };
}

const all = apiOperations.map(({ id }) => id);
const withForm = apiOperations.filter(({ operation }) => operation.form).map(({ id }) => id);
const withPath = apiOperations.filter(({ operation }) => operation.path.includes('{')).map(({ id }) => id);

test('responds with 401 without a key', async () => {
  const service = await startService();
  for (const id of all) {
    expect.soft(await service.call(id, { ...exampleOf(id), apiKey: null }), id).toMatchObject({
      status: 401,
      body: { type: 'unauthorized', data: null },
    });
  }
});

test('responds with 400 to a malformed request', async () => {
  const service = await startService();
  const refused = { status: 400, body: { type: 'malformed_request', data: null } };
  const unreadable = Object.fromEntries(Object.keys(anyPath).map((name) => [name, 'a\u0000b']));
  for (const id of all) expect.soft(await service.callWithHeader(id, 'no header at all'), id).toMatchObject(refused);
  for (const id of withPath) expect.soft(await service.call(id, { path: unreadable }), id).toMatchObject(refused);
  for (const id of withForm) expect.soft(await service.call(id, { path: anyPath, body: '%zz' }), id).toMatchObject(refused);
});

test('responds with 400 to an unknown query parameter, and names it in the message and in the request log', async () => {
  const service = await startService();
  for (const { id, operation } of apiOperations) {
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof anyPath) => anyPath[name]);
    const init = { method: operation.method, headers: { 'x-service-apikey': service.apiKey } };
    const response = await service.send(`${path}?offset=50&${service.apiKey}=1`, init);
    expect.soft(response, id).toMatchObject({
      status: 400,
      body: { type: 'malformed_request', message: expect.stringContaining("no query parameter 'offset', '***'. ") },
    });
    expect.soft(response.body.message, id).toContain(withForm.includes(id) ? 'in the body' : 'without a query');
    const { body } = await service.call('listRequests');
    expect.soft(body.data[0], id).toMatchObject({ endpoint: path, success: 0, error_type: 'malformed_request' });
    expect.soft(JSON.stringify(body), id).not.toContain(service.apiKey);
  }
});

test('responds with 404 to an unknown identifier', async () => {
  const service = await startService();
  // No operation accepts a name under a TLD without a price as a domain.
  const path = { ...anyPath, domain: 'example.zz' };
  for (const id of withPath) {
    expect
      .soft(await service.call(id, { ...exampleOf(id), path }), id)
      .toMatchObject({ status: 404, body: { type: 'not_found', data: null } });
  }
});

test('responds with 413, 415 and 422 to invalid bodies', async () => {
  const service = await startService();
  const path = { path: anyPath };
  for (const id of withForm) {
    const tooLarge = await service.call(id, { ...path, body: 'x'.repeat(65_537) });
    expect.soft(tooLarge, id).toMatchObject({ status: 413, body: { type: 'payload_too_large' } });
    const json = await service.call(id, { ...path, body: '{}', contentType: 'application/json' });
    expect.soft(json, id).toMatchObject({ status: 415, body: { type: 'unsupported_media_type' } });
    const { status, body } = await service.call(id, { ...path, body: 'nobody_knows_this=1' });
    expect.soft([status, body.type], id).toEqual([422, 'validation_failed']);
    expect.soft(body.data.fields, id).toContainEqual(expect.objectContaining({ field: 'nobody_knows_this', rule: 'unknown' }));
  }
});

test('responds with 429 beyond the rate limit of the key, logs the request and does not carry it out', async () => {
  const service = await startService();
  for (const id of all) {
    const account = await service.account();
    await service.store.commit(({ db }) =>
      db.updateTable('api_keys').set({ rate_requests: 1, rate_seconds: 3_600 }).where('account_id', '=', account.id).execute(),
    );
    const sent = { ...exampleOf(id), apiKey: account.apiKey };
    const first = await service.call(id, sent);
    expect.soft(first.status, id).not.toBe(429);
    const { status, body, headers } = await service.call(id, sent);
    expect.soft([status, body.type, body.data], id).toEqual([429, 'rate_limited', null]);
    expect.soft(Number(headers.get('retry-after')), id).toBeGreaterThan(3_500);
    const firstType = first.body.status === 'success' ? null : first.body.type;
    expect.soft(await loggedErrors(service, account.id), id).toEqual([firstType, 'rate_limited']);
  }
});

test('responds with 503 while the store cannot be written to, and recovers afterwards', async () => {
  const service = await startService();
  const other = new DatabaseSync(join(service.directory, 'store.sqlite'));
  onTestFinished(() => other.close());
  for (const id of all) {
    // Another process writes to the same file, as a backup may do.
    other.exec('BEGIN IMMEDIATE');
    const { status, body, headers } = await service.call(id, exampleOf(id));
    expect.soft([status, body.type], id).toEqual([503, 'unavailable']);
    expect.soft(headers.get('retry-after'), id).toMatch(/^[1-9]\d*$/);
    other.exec('ROLLBACK');
    expect.soft((await service.call(id, exampleOf(id))).status, id).not.toBe(503);
  }
});

test('responds with 500 without details if the service fails', async () => {
  const service = await startService();
  await service.store.commit(({ db }) => sql`alter table request_log rename to somewhere_else`.execute(db));
  for (const id of all) {
    const { status, body } = await service.call(id, exampleOf(id));
    expect.soft([status, body.type], id).toEqual([500, 'internal_error']);
    expect.soft(JSON.stringify(body), id).not.toMatch(/sql|request_log|table/i);
  }
});

/** Operations that help to settle a suspended account. */
const OPEN_TO_SUSPENDED: ReadonlySet<string> = new Set([
  'listRequests',
  'listInvoices',
  'getInvoice',
  'getCurrentInvoice',
  'listDocuments',
  'listPayments',
  'getCredit',
  'listEvents',
]);

test('responds with 403 while the account is suspended, unless the operation helps to settle the account', async () => {
  const service = await startService();
  for (const id of all) {
    const account = await service.account();
    await service.store.commit(({ db }) =>
      db.updateTable('accounts').set({ suspended_at: 1, suspension_reason: 'Unpaid' }).where('id', '=', account.id).execute(),
    );
    const { status, body } = await service.call(id, { ...exampleOf(id), apiKey: account.apiKey });
    if (OPEN_TO_SUSPENDED.has(id)) expect.soft(status, id).not.toBe(403);
    else expect.soft([status, body.type, body.data], id).toEqual([403, 'account_suspended', null]);
    expect.soft(await loggedErrors(service, account.id), id).toEqual([status === 200 ? null : body.type]);
  }
});

test('responds with 403 to a read-only key, if the operation changes something', async () => {
  const service = await startService();
  for (const { id, operation } of apiOperations) {
    const account = await service.account();
    await service.store.commit(({ db }) =>
      db.updateTable('api_keys').set({ access: 'read' }).where('account_id', '=', account.id).execute(),
    );
    const { status, body } = await service.call(id, { ...exampleOf(id), apiKey: account.apiKey });
    if (operation.readOnly) expect.soft(status, id).not.toBe(403);
    else expect.soft([status, body.type, body.data], id).toEqual([403, 'read_only_key', null]);
    expect.soft(await loggedErrors(service, account.id), id).toEqual([status === 200 ? null : body.type]);
  }
});

/** The error types of the requests of an account, oldest first. */
async function loggedErrors({ store }: TestService, accountId: string): Promise<readonly (string | null)[]> {
  const entries = await store.read((db) =>
    db.selectFrom('request_log').select('error_type').where('account_id', '=', accountId).orderBy('number').execute(),
  );
  return entries.map(({ error_type }) => error_type);
}

describe('a key with a rate limit', () => {
  async function limited(requests: number) {
    const service = await startService();
    await service.store.commit(({ db }) => db.updateTable('api_keys').set({ rate_requests: requests, rate_seconds: 3_600 }).execute());
    const send = (path: string, method = 'GET') => service.send(path, { method, headers: { 'x-service-apikey': service.apiKey } });
    const entries = async () =>
      (await service.store.read((db) => db.selectFrom('request_log').select(['endpoint', 'error_type']).execute())).length;
    return { service, send, entries };
  }

  test('also uses it up with unknown paths and wrong methods', async () => {
    const { send } = await limited(3);
    expect((await send('/nothing')).status).toBe(404);
    expect((await send('/vm/create')).status).toBe(405);
    expect((await send('/domain/list', 'PUT')).status).toBe(405);
    for (const path of ['/nothing', '/domain/list', '/vm/create']) expect((await send(path)).status).toBe(429);
  });

  test('sees what is left of it in each response', async () => {
    const { send } = await limited(3);
    const fields = async (path: string) => {
      const { headers } = await send(path);
      return [headers.get('ratelimit-policy'), headers.get('ratelimit')?.replace(/t=\d+/, 't=…'), headers.get('retry-after')];
    };
    expect(await fields('/domain/list')).toEqual(['"key";q=3;w=3600', '"key";r=2;t=…', null]);
    expect(await fields('/nothing')).toEqual(['"key";q=3;w=3600', '"key";r=1;t=…', null]);
    expect(await fields('/domain/list')).toEqual(['"key";q=3;w=3600', '"key";r=0;t=…', null]);
    expect(await fields('/domain/list')).toEqual(['"key";q=3;w=3600', '"key";r=0;t=…', '1200']);
  });

  test('has one log entry for a single request beyond the limit', async () => {
    const { service, send, entries } = await limited(1);
    for (const status of [200, 429]) expect((await send('/domain/list')).status).toBe(status);
    await service.close();
    expect(await entries()).toBe(2);
  });

  test('has one log entry for the first request beyond the limit, and one for those of the next second', async () => {
    const { service, send, entries } = await limited(1);
    await send('/domain/list');
    await Promise.all(Array.from({ length: 200 }, () => send('/domain/list')));
    await vi.waitFor(async () => expect(await entries()).toBeGreaterThanOrEqual(3), { timeout: 300_000 });
    expect(await entries()).toBeLessThan(30);
    await service.close();
    const bodies = await service.store.read((db) =>
      db.selectFrom('request_log').select(['response_body', 'error_type']).orderBy('number').execute(),
    );
    const counts = bodies.map(({ response_body: text }) =>
      Number(/(\d+) further/.exec(text ?? '')?.[1] ?? (/exceeded|too many/.test(text ?? '') ? 1 : 0)),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(200);
  });
});
