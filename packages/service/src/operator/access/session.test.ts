/** Sessions of the console, as a browser begins and uses them. */
import { createOperatorToken, revokeOperatorToken } from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { OPERATOR_TOKEN, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { forgetEndedSessions } from './session.ts';

const OF_A_PAGE = { 'sec-fetch-site': 'same-origin' };

const signIn = (service: TestOperator, token: string) =>
  fetch(`${service.operatorUrl}/session`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });

async function cookieFrom(response: Response): Promise<string> {
  expect(response.status).toBe(200);
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
}

const ask = (service: TestOperator, cookie: string, headers: Readonly<Record<string, string>> = OF_A_PAGE) =>
  fetch(`${service.operatorUrl}/session`, { headers: { ...headers, cookie } });

test('a token begins a session of 12 hours in a cookie that scripts cannot read', async () => {
  const service = await startOperator();
  const response = await signIn(service, OPERATOR_TOKEN);
  const cookie = response.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/^reseller_session_\d+=operator\.\d+\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/);
  const seen = await (await ask(service, await cookieFrom(response))).json();
  expect(seen).toEqual({
    id: 'operator',
    name: 'RESELLER_OPERATOR_TOKEN',
    scopes: ['admin'],
    expires: new Date(service.clock.now() + 12 * 3_600_000).toISOString(),
    mode: 'sandbox',
    reseller_api: expect.stringMatching(/^http/),
  });
  service.clock.advance(12 * 3_600_000 + 1);
  expect((await ask(service, await cookieFrom(response))).status).toBe(401);
});

test.each(['', 'theme=dark'])('a page without a session is refused, with the cookie "%s"', async (cookie) => {
  const service = await startOperator();
  expect((await ask(service, cookie)).status).toBe(401);
  expect((await service.operate('/accounts', { headers: { ...OF_A_PAGE, authorization: '' } })).status).toBe(401);
});

test('two services on one host do not sign each other out', async () => {
  const services = [await startOperator(), await startOperator()];
  const cookies = await Promise.all(services.map(async (service) => cookieFrom(await signIn(service, OPERATOR_TOKEN))));
  // A browser sends the cookies of a host to all of its ports, and keeps one of each name.
  const kept = new Map(cookies.map((cookie) => [cookie.split('=')[0], cookie]));
  expect(kept.size).toBe(2);
  const sent = [...kept.values()].join('; ');
  expect(await Promise.all(services.map(async (service) => (await ask(service, sent)).status))).toEqual([200, 200]);
});

test.each(['none', 'same-site', 'cross-site', undefined])('no session counts in a request whose Sec-Fetch-Site is %s', async (site) => {
  const service = await startOperator();
  const cookie = await cookieFrom(await signIn(service, OPERATOR_TOKEN));
  expect((await ask(service, cookie, site === undefined ? {} : { 'sec-fetch-site': site })).status).toBe(401);
});

test('a session with another signature, holder or end is refused, and does not lock the address out', async () => {
  const service = await startOperator();
  const cookie = await cookieFrom(await signIn(service, OPERATOR_TOKEN));
  const [holder = '', ends = '', signature = ''] = cookie.replace(/^\w+=/, '').split('.');
  const forged = [
    `${holder}.${ends}.${signature.slice(1)}A`,
    `${holder}.${Number(ends) + 1}.${signature}`,
    `0192f7b4-2b3c-7d4e-9f50-6b7c8d9e0f1a.${ends}.${signature}`,
    `${holder}.${ends}`,
    'x',
  ];
  for (let round = 0; round < 5; round++)
    for (const value of forged) {
      const { status } = await ask(service, `${cookie.split('=')[0]}=${value}`);
      expect([value, status]).toEqual([value, 401]);
    }
  expect((await ask(service, cookie)).status).toBe(200);
});

test('a session has the scopes of its token, and ends when the token is revoked', async () => {
  const service = await startOperator();
  const { id, token } = await createOperatorToken({ client: service.client, body: { name: 'Support desk', scopes: ['read', 'support'] } });
  const cookie = await cookieFrom(await signIn(service, token));
  expect(await (await ask(service, cookie)).json()).toMatchObject({ id, name: 'Support desk', scopes: ['read', 'support'] });
  const reset = await fetch(`${service.operatorUrl}/sandbox/reset`, { method: 'POST', headers: { ...OF_A_PAGE, cookie } });
  expect(reset.status).toBe(403);
  await revokeOperatorToken({ client: service.client, path: { operator_token_id: id } });
  expect((await ask(service, cookie)).status).toBe(401);
});

test('a sign-in code begins one session, and no other operation takes it as a token', async () => {
  const service = await startOperator();
  const code = service.createSignInCode();
  expect(code).toMatch(/^rsc_[A-Za-z0-9]{50}$/);
  const asToken = await fetch(`${service.operatorUrl}/accounts`, { headers: { authorization: `Bearer ${code}` } });
  expect(asToken.status).toBe(401);
  const cookie = await cookieFrom(await signIn(service, code));
  expect((await ask(service, cookie)).status).toBe(200);
  expect((await signIn(service, code)).status).toBe(401);
});

test('signing out removes the cookie, and ends the session for a copy of it but not for other sessions', async () => {
  const service = await startOperator();
  const cookie = await cookieFrom(await signIn(service, OPERATOR_TOKEN));
  service.clock.advance(1);
  const other = await cookieFrom(await signIn(service, OPERATOR_TOKEN));
  const response = await fetch(`${service.operatorUrl}/session`, { method: 'DELETE', headers: { ...OF_A_PAGE, cookie } });
  expect([response.status, response.headers.get('set-cookie')]).toEqual([
    204,
    `${cookie.split('=')[0]}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`,
  ]);
  expect([(await ask(service, cookie)).status, (await ask(service, other)).status]).toEqual([401, 200]);
  // It is remembered until it would have ended by itself.
  const ended = () => service.store.read((db) => db.selectFrom('ended_sessions').select('ends').execute());
  service.clock.advance(12 * 3_600_000 - 2);
  await forgetEndedSessions(service.store, service.clock.now());
  expect(await ended()).toHaveLength(1);
  service.clock.advance(1);
  await forgetEndedSessions(service.store, service.clock.now());
  expect(await ended()).toEqual([]);
  expect((await ask(service, cookie)).status).toBe(401);
});

test('the cookie alone does not begin another session, so no session is older than 12 hours', async () => {
  const service = await startOperator();
  const cookie = await cookieFrom(await signIn(service, OPERATOR_TOKEN));
  const renewed = await fetch(`${service.operatorUrl}/session`, { method: 'POST', headers: { ...OF_A_PAGE, cookie } });
  expect([renewed.status, renewed.headers.get('set-cookie')]).toEqual([401, null]);
});

test('a sign-in code is valid for less than an hour', async () => {
  const service = await startOperator();
  const [inTime, late] = [service.createSignInCode(), service.createSignInCode()];
  service.clock.advance(3_599_999);
  expect((await signIn(service, inTime)).status).toBe(200);
  service.clock.advance(1);
  expect((await signIn(service, late)).status).toBe(401);
});
