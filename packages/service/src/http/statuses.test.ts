import { join } from 'node:path';
/** The statuses that every operation of the document can respond with. */
import { DatabaseSync } from 'node:sqlite';

import { expect, onTestFinished, test } from 'vitest';

import { startService } from '../../test/harness.ts';
import type { TestService } from '../../test/harness.ts';
import type { Sent } from '../../test/http-client.ts';
import { apiOperations } from './api.ts';

const anyPath = {
  vmid: '12345',
  identifier: '01900000-0000-7000-8000-00000000ffff',
  domain: 'example.net',
  record_id: '01900000-0000-7000-8000-00000000eeee',
  handle: 'XX0000',
  invoiceID: 'none',
};

/** A body that the operation's schema takes, as far as the document's own examples go. */
function exampleOf(id: string): Sent {
  const form = apiOperations.find((api) => api.id === id)?.operation.form;
  const [example] = Object.values(form?.examples ?? {});
  return { path: anyPath, ...(example ? { form: Object(example.value) } : {}) };
}

const all = apiOperations.map(({ id }) => id);
const withForm = apiOperations.filter(({ operation }) => operation.form).map(({ id }) => id);
const withPath = apiOperations.filter(({ operation }) => operation.path.includes('{')).map(({ id }) => id);

test.each(all)('%s: 401 without a key', async (id) => {
  const service = await startService();
  expect(await service.call(id, { ...exampleOf(id), apiKey: null })).toMatchObject({
    status: 401,
    body: { type: 'unauthorized', data: null },
  });
});

test.each(all)('%s: 400 for what cannot be read', async (id) => {
  const service = await startService();
  const refused = { status: 400, body: { type: 'malformed_request', data: null } };
  expect(await service.callWithHeader(id, 'no header at all')).toMatchObject(refused);
  const unreadable = Object.fromEntries(Object.keys(anyPath).map((name) => [name, 'a\u0000b']));
  if (withPath.includes(id)) expect(await service.call(id, { path: unreadable })).toMatchObject(refused);
  if (withForm.includes(id)) expect(await service.call(id, { path: anyPath, body: '%zz' })).toMatchObject(refused);
});

test.each(all)('%s: 400 for a query parameter that it does not have, named in the message and in the request log', async (id) => {
  const service = await startService();
  const { operation } = apiOperations.find((api) => api.id === id) ?? {};
  const path = (operation?.path ?? '').replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof anyPath) => anyPath[name]);
  const init = { method: operation?.method ?? '', headers: { 'x-service-apikey': service.apiKey } };
  const response = await service.send(`${path}?offset=50&${service.apiKey}=1`, init);
  expect(response).toMatchObject({
    status: 400,
    body: { type: 'malformed_request', message: expect.stringContaining("no query parameter 'offset', '***'. ") },
  });
  expect(response.body.message).toContain(withForm.includes(id) ? 'in the body' : 'without a query');
  const { body } = await service.call('listRequests');
  expect(body.data[0]).toMatchObject({ endpoint: path, success: 0, error_type: 'malformed_request' });
  expect(JSON.stringify(body)).not.toContain(service.apiKey);
});

test.each(withPath)('%s: 404 for an identifier that names nothing', async (id) => {
  const service = await startService();
  // A name under a TLD that has no price is not a domain for any operation.
  const path = { ...anyPath, domain: 'example.zz' };
  expect(await service.call(id, { ...exampleOf(id), path })).toMatchObject({ status: 404, body: { type: 'not_found', data: null } });
});

test.each(withForm)('%s: 413, 415 and 422 for bodies that are none of its forms', async (id) => {
  const service = await startService();
  const path = { path: anyPath };
  expect(await service.call(id, { ...path, body: 'x'.repeat(65_537) })).toMatchObject({ status: 413, body: { type: 'payload_too_large' } });
  expect(await service.call(id, { ...path, body: '{}', contentType: 'application/json' })).toMatchObject({
    status: 415,
    body: { type: 'unsupported_media_type' },
  });
  const { status, body } = await service.call(id, { ...path, body: 'nobody_knows_this=1' });
  expect([status, body.type]).toEqual([422, 'validation_failed']);
  expect(body.data.fields).toContainEqual(expect.objectContaining({ field: 'nobody_knows_this', rule: 'unknown' }));
});

test.each(all)('%s: 429 beyond the key’s rate limit, which is in the log and has no effect', async (id) => {
  const service = await startService();
  const limit = (requests: number | null) =>
    service.store.commit(({ db }) =>
      db
        .updateTable('api_keys')
        .set({ rate_requests: requests, rate_seconds: requests && 3_600 })
        .execute(),
    );
  await limit(1);
  const first = await service.call(id, exampleOf(id));
  expect(first.status).not.toBe(429);
  const { status, body, headers } = await service.call(id, exampleOf(id));
  expect([status, body.type, body.data]).toEqual([429, 'rate_limited', null]);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(3_500);
  const entries = await service.store.read((db) => db.selectFrom('request_log').select('error_type').orderBy('number').execute());
  expect(entries.map(({ error_type }) => error_type)).toEqual([first.body.status === 'success' ? null : first.body.type, 'rate_limited']);
});

test.each(all)('%s: 503 while the store takes no writes, and service as before when it does again', async (id) => {
  const service = await startService();
  const other = holdWriteLock(service);
  const { status, body, headers } = await service.call(id, exampleOf(id));
  expect([status, body.type]).toEqual([503, 'unavailable']);
  expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  other.exec('ROLLBACK');
  expect((await service.call(id, exampleOf(id))).status).not.toBe(503);
});

test.each(all)('%s: 500 when the service is broken, and nothing of it is told', async (id) => {
  const service = await startService();
  const { sql } = await import('kysely');
  await service.store.commit(({ db }) => sql`alter table request_log rename to somewhere_else`.execute(db));
  const { status, body } = await service.call(id, exampleOf(id));
  expect([status, body.type]).toEqual([500, 'internal_error']);
  expect(JSON.stringify(body)).not.toMatch(/sql|request_log|table/i);
});

/** Operations that help to settle a suspended account. */
const OPEN_TO_SUSPENDED: ReadonlySet<string> = new Set(['listRequests', 'listInvoices', 'getInvoice', 'getCurrentInvoice']);

test.each(all)('%s: 403 while the account is suspended, unless it helps to settle the account', async (id) => {
  const service = await startService();
  await service.store.commit(({ db }) => db.updateTable('accounts').set({ suspended_at: 1, suspension_reason: 'Unpaid' }).execute());
  const { status, body } = await service.call(id, exampleOf(id));
  if (OPEN_TO_SUSPENDED.has(id)) expect(status).not.toBe(403);
  else expect([status, body.type, body.data]).toEqual([403, 'account_suspended', null]);
  const entries = await service.store.read((db) => db.selectFrom('request_log').select('error_type').execute());
  expect(entries).toEqual([{ error_type: status === 200 ? null : body.type }]);
});

test.each(all)('%s: 403 for a key that may only read, if the operation changes something', async (id) => {
  const service = await startService();
  await service.store.commit(({ db }) => db.updateTable('api_keys').set({ access: 'read' }).execute());
  const { status, body } = await service.call(id, exampleOf(id));
  if (apiOperations.find((api) => api.id === id)?.operation.readOnly) expect(status).not.toBe(403);
  else expect([status, body.type, body.data]).toEqual([403, 'read_only_key', null]);
  const entries = await service.store.read((db) => db.selectFrom('request_log').select('error_type').execute());
  expect(entries).toEqual([{ error_type: status === 200 ? null : body.type }]);
});

/** Another process at work on the same file, as a backup may be. */
function holdWriteLock({ directory }: TestService): DatabaseSync {
  const other = new DatabaseSync(join(directory, 'store.sqlite'));
  onTestFinished(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  return other;
}
