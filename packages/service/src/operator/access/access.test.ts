import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { SMALL_VM } from '../../../test/harness.ts';
import { OPERATOR_TOKEN, refusalOf, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { operatorApi } from '../../http/operator/api.ts';
import type { Scope } from '../operation.ts';

const create = ({ client }: TestOperator, scopes: Scope[], more: { name?: string; valid_until?: string } = {}) =>
  operator.createOperatorToken({ client, body: { name: scopes.join(' and '), scopes, ...more } });

const records = async ({ client }: TestOperator, query: NonNullable<operator.ListAuditRecordsData['query']> = {}) =>
  (await operator.listAuditRecords({ client, query })).items;

test('allows a token only the operations of its scopes, for every operation of the document', async () => {
  const service = await startOperator();
  const scopes: Scope[] = ['read', 'support', 'billing', 'catalogue', 'sandbox', 'admin'];
  const tokens = new Map<Scope, string>();
  for (const scope of scopes) tokens.set(scope, (await create(service, [scope])).token);
  const odd: string[] = [];
  for (const { id, scope: needed, operation } of operatorApi) {
    for (const [scope, token] of tokens) {
      const path = operation.path.replaceAll(/\{\w+\}/g, '01900000-0000-7000-8000-00000000ffff');
      // An authorised request is refused for its query, so that it changes nothing.
      const init = { method: operation.method, headers: { authorization: `Bearer ${token}` } };
      const { status, body } = await service.operate(`${path}?nobody_knows_this=1`, init);
      const expected = scope === needed || scope === 'admin' ? 400 : 403;
      if (status !== expected) odd.push(`${id} with ${scope}: ${status} ${JSON.stringify(body)}`);
    }
  }
  expect(odd).toEqual([]);
  for (const { before, after } of await records(service, { operation: 'advanceClock' }))
    expect([before, after]).toEqual([null, { refused: expect.stringContaining('needs the scope sandbox') }]);
});

test('names the missing scope in a 403, and requires the scope read for metrics', async () => {
  const service = await startOperator();
  const { token } = await create(service, ['read', 'support']);
  const headers = { authorization: `Bearer ${token}` };
  const refused = operator.setVatRates({ client: service.clientWith(token), body: { vat_rates: [] } });
  expect(await refusalOf(refused)).toMatchObject({
    status: 403,
    message: expect.stringContaining('needs the scope billing, and the token has read and support. Use a token with this scope.'),
  });
  expect((await fetch(`${service.operatorUrl}/metrics`, { headers })).status).toBe(200);
  const other = await create(service, ['billing']);
  expect((await fetch(`${service.operatorUrl}/metrics`, { headers: { authorization: `Bearer ${other.token}` } })).status).toBe(403);
});

test('stores tokens as hashes and returns them once; tokens can expire, overlap and be revoked immediately', async () => {
  const service = await startOperator();
  const { client, clock } = service;
  const status = async (token: string) => (await service.operate('/accounts', { headers: { authorization: `Bearer ${token}` } })).status;
  const expiring = await create(service, ['read'], { valid_until: new Date(clock.now() + 60_000).toISOString() });
  expect(expiring.token).toMatch(/^rso_[A-Za-z0-9]{50}$/);
  const rows = await service.store.read((db) => db.selectFrom('operator_tokens').selectAll().execute());
  expect(JSON.stringify(rows)).not.toContain(expiring.token);
  expect(await status(expiring.token)).toBe(200);
  clock.advance(59_999);
  expect(await status(expiring.token)).toBe(200);
  clock.advance(1);
  expect(await status(expiring.token)).toBe(401);
  const past = new Date(clock.now()).toISOString();
  const refused = await refusalOf(operator.createOperatorToken({ client, body: { name: 'late', scopes: ['read'], valid_until: past } }));
  expect(refused).toMatchObject({ status: 422, fields: [{ field: '#/valid_until' }] });

  const first = await create(service, ['read', 'billing']);
  clock.advance(1);
  const path = { operator_token_id: first.id };
  const { issued, replaced } = await operator.rotateOperatorToken({ client, path, body: { overlap_seconds: 60 } });
  expect(issued).toMatchObject({ name: first.name, scopes: first.scopes, valid_until: null });
  expect(replaced.valid_until).toBe(new Date(clock.now() + 60_000).toISOString());
  expect([await status(first.token), await status(issued.token)]).toEqual([200, 200]);
  expect(await refusalOf(operator.rotateOperatorToken({ client, path, body: {} }))).toMatchObject({ status: 409 });
  clock.advance(60_000);
  expect([await status(first.token), await status(issued.token)]).toEqual([401, 200]);
  await operator.revokeOperatorToken({ client, path: { operator_token_id: issued.id } });
  expect(await status(issued.token)).toBe(401);
  // A new token for a revoked one would undo the revocation.
  const again = { client, path: { operator_token_id: issued.id }, body: {} };
  expect(await refusalOf(operator.rotateOperatorToken(again))).toMatchObject({
    status: 409,
    message: expect.stringContaining(`The token ${issued.id} is revoked`),
  });
  const { items } = await operator.listOperatorTokens({ client });
  expect(items.map(({ revoked }) => revoked === null)).toEqual([true, true, false]);
  expect(JSON.stringify(items)).not.toContain('rso_');
  expect(await status(OPERATOR_TOKEN)).toBe(200);
});

test('keeps tokens and the audit when the sandbox is reset, and does not apply its clock to them', async () => {
  const service = await startOperator();
  const { clock } = service;
  const { token, id } = await create(service, ['admin'], { valid_until: new Date(clock.now() + 60_000).toISOString() });
  const theirs = service.clientWith(token);
  clock.advance(1);
  await operator.advanceClock({ client: theirs, body: { by_seconds: 3_600 } });
  clock.advance(1);
  await operator.resetSandbox({ client: theirs });
  expect((await records(service)).map(({ operation, actor }) => [operation, actor])).toEqual([
    ['resetSandbox', id],
    ['advanceClock', id],
    ['createOperatorToken', 'operator'],
  ]);
});

test('records the actor, the address, the request and the states before and after a change', async () => {
  const service = await startOperator({ trustedProxies: ['127.0.0.1'] });
  const { id, token } = await create(service, ['billing'], { name: 'Jonas' });
  const account = await service.account('10.00');
  service.clock.advance(1);
  const sent = await service.operate(`/accounts/${account.id}/credit-limit`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' },
    body: '{"credit_limit":"20.00"}',
  });
  expect(sent.status).toBe(200);
  const [record] = await records(service);
  expect(record).toEqual({
    id: expect.any(String),
    time: new Date(service.clock.now()).toISOString(),
    actor: id,
    actor_name: 'Jonas',
    address: '203.0.113.9',
    operation: 'setCreditLimit',
    target: account.id,
    before: expect.objectContaining({ credit_limit: '10.00' }),
    after: sent.body,
    request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    seq: 2,
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('filters the audit by actor, operation, target and period, and pages it without gaps', async () => {
  const service = await startOperator();
  const { client, clock } = service;
  const { id, token } = await create(service, ['billing']);
  const account = await service.account();
  const path = { account_id: account.id };
  for (const credit_limit of ['1.00', '2.00', '3.00', '4.00', '5.00']) {
    clock.advance(1_000);
    await operator.setCreditLimit({ client: service.clientWith(token), path, body: { credit_limit } });
  }
  const from = new Date(clock.now() - 2_000).toISOString();
  const to = new Date(clock.now()).toISOString();
  const limits = (items: readonly operator.AuditRecord[]) => items.map(({ after }) => Object(after).credit_limit);
  expect(limits(await records(service, { actor: id, target: account.id }))).toEqual(['5.00', '4.00', '3.00', '2.00', '1.00']);
  expect(limits(await records(service, { from, to }))).toEqual(['4.00', '3.00']);
  expect((await records(service, { actor: 'operator' })).map(({ operation }) => operation)).toEqual(['createOperatorToken']);
  expect(await records(service, { operation: 'setCreditLimit', actor: 'operator' })).toEqual([]);
  const paged: unknown[] = [];
  let cursor: string | undefined;
  do {
    const query = { operation: 'setCreditLimit', limit: 2, ...(cursor === undefined ? {} : { cursor }) };
    const page = await operator.listAuditRecords({ client, query });
    paged.push(...limits(page.items));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  expect(paged).toEqual(['5.00', '4.00', '3.00', '2.00', '1.00']);
});

test('records the verification of a code with the third party and without the code', async () => {
  const service = await startOperator();
  const { token, id } = await operator.registerVerifier({ client: service.client, body: { name: 'Panel' } });
  const { otp_code: code } = (await service.call('generateOtp')).body.data;
  const verify = (body: { code: string }) => operator.verifyOtp({ client: service.clientWith(token), body });
  expect(await refusalOf(verify({ code: '00000000' }))).toMatchObject({ status: 404 });
  const { account_id } = await verify({ code });
  const found = await records(service, { operation: 'verifyOtp' });
  expect(found).toMatchObject([{ actor: id, actor_name: 'Panel', target: account_id }]);
  expect(JSON.stringify(await records(service))).not.toContain(code);
  expect(JSON.stringify(await records(service))).not.toContain(token);
});

test('records a change whose call to the hypervisor fails only if it takes effect nevertheless', async () => {
  const service = await startOperator();
  const { client, hypervisor } = service;
  const buy = async () => String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
  const [resized, stopped] = [await buy(), await buy()];
  hypervisor.failing = new Error('The hypervisor is away.');
  expect(await refusalOf(operator.resizeVm({ client, path: { vm_id: resized }, body: { cores: 4 } }))).toMatchObject({ status: 503 });
  expect(await records(service)).toEqual([]);
  expect(await refusalOf(operator.stopVm({ client, path: { vm_id: stopped } }))).toMatchObject({ status: 503 });
  expect(await records(service)).toMatchObject([
    { operation: 'stopVm', target: stopped, before: { state: 'running' }, after: { state: 'stopped' } },
  ]);
});

test('lets a token with the scope support issue and rotate keys that may only read, and no others', async () => {
  const service = await startOperator();
  const { id } = await service.account();
  const support = service.clientWith((await create(service, ['read', 'support'])).token);
  const path = { account_id: id };
  for (const access of ['full', 'read_secrets', undefined] as const) {
    const issue = operator.issueApiKey({ client: support, path, body: { label: 'x', ...(access && { access }) } });
    expect(await refusalOf(issue)).toMatchObject({ status: 403, message: expect.stringContaining('needs the scope admin') });
    const { id: other } = await operator.issueApiKey({ client: service.client, path, body: { label: 'x', ...(access && { access }) } });
    expect(await refusalOf(operator.rotateApiKey({ client: support, path: { api_key_id: other }, body: {} }))).toMatchObject({
      status: 403,
    });
  }
  const { id: key } = await operator.issueApiKey({ client: support, path, body: { label: 'x', access: 'read' } });
  expect(await operator.rotateApiKey({ client: support, path: { api_key_id: key }, body: {} })).toMatchObject({
    issued: { access: 'read' },
  });
});

test('leaves a record when personal data is read, and when a token lacks the scope of an operation', async () => {
  const service = await startOperator();
  const { id } = await service.account();
  const { token, ...holder } = await create(service, ['read', 'support']);
  const support = service.clientWith(token);
  await operator.listAccountRequests({ client: support, path: { account_id: id } });
  await service.operate(`/accounts/${id}/export`, { headers: { authorization: `Bearer ${token}` } });
  for (const operation of ['listAccountRequests', 'exportAccount'])
    expect(await records(service, { operation })).toMatchObject([{ actor: holder.id, target: id, before: null, after: null }]);
  await refusalOf(operator.eraseAccount({ client: support, path: { account_id: id } }));
  expect(await records(service, { operation: 'eraseAccount' })).toMatchObject([
    { actor: holder.id, target: id, before: null, after: { refused: expect.stringContaining('needs the scope admin') } },
  ]);
});
