import { expect, test } from 'vitest';

import { OPERATOR_TOKEN, startOperator } from '../../../test/operator.ts';
import { exchange, requestText } from '../../../test/raw-http.ts';

async function askerOf(options: Parameters<typeof startOperator>[0]) {
  const service = await startOperator(options);
  return async (host: string) => {
    const reseller = await exchange(
      service.baseUrl,
      requestText('GET /domain/list HTTP/1.1', [`Host: ${host}`, `X-SERVICE-APIKEY: ${service.apiKey}`]),
    );
    const operator = await exchange(
      service.operatorUrl,
      requestText('GET /accounts HTTP/1.1', [`Host: ${host}`, `Authorization: Bearer ${OPERATOR_TOKEN}`]),
    );
    expect(operator.status).toBe(reseller.status);
    return reseller;
  };
}

test.each([
  'localhost',
  'localhost:4010',
  'LOCALHOST',
  'sandbox.localhost',
  'localhost.',
  '127.0.0.1',
  '127.9.9.9:80',
  '[::1]:4010',
  '192.0.2.7',
  '[2001:db8::7]',
])('a sandbox takes the host %s', async (host) => {
  const ask = await askerOf({});
  expect((await ask(host)).status).toBe(200);
});

test.each([
  'attacker.example',
  'attacker.example:4010',
  'localhost.attacker.example',
  '127.0.0.1.attacker.example',
  'xlocalhost',
  'a b',
  '::1',
])('a sandbox refuses the host %s, and says what to do', async (host) => {
  const ask = await askerOf({});
  const { status, text } = await ask(host);
  expect([status, text]).toEqual([400, expect.stringMatching(/RESELLER_ALLOWED_HOSTS|not the name of a host|could not be read/)]);
});

test('a sandbox takes the names of its public URL and of its configuration', async () => {
  const ask = await askerOf({ publicUrl: 'https://sandbox.provider.example/api', allowedHosts: ['sandbox'] });
  expect((await ask('sandbox.provider.example')).status).toBe(200);
  expect((await ask('sandbox:4010')).status).toBe(200);
  expect((await ask('provider.example')).status).toBe(400);
});

test('a live service takes any host, because its proxy decides', async () => {
  const ask = await askerOf({ mode: 'live' });
  expect((await ask('api.provider.example')).status).toBe(200);
});
