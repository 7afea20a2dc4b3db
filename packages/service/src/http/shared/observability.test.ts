import { Writable } from 'node:stream';

import { writeForm } from '@reseller/contract';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';

import { SECRET, SMALL_VM, startService } from '../../../test/harness.ts';
import { resellerApi } from '../../../test/http-client.ts';
import { OPERATOR_TOKEN } from '../../../test/operator.ts';
import { createService } from '../../index.ts';

/** A second service on the store of a test, with its log in memory. */
async function startObserved(level = 'trace') {
  const { store, ports, apiKey } = await startService();
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const service = await createService({
    store,
    ports,
    secret: SECRET,
    operatorToken: OPERATOR_TOKEN,
    trustedProxies: ['127.0.0.1'],
    logger: pino({ level }, stream),
  });
  onTestFinished(() => service.close());
  const baseUrl = await service.app.listen({ host: '127.0.0.1', port: 0 });
  const post = async (path: string, init: RequestInit) =>
    JSON.parse(await (await fetch(baseUrl + path, { ...init, headers: { 'x-service-apikey': apiKey } })).text());
  const buy = (form: Readonly<Record<string, unknown>>) =>
    post('/vm/create', { method: 'PUT', body: new URLSearchParams(writeForm(resellerApi.operation('createVm'), form)) });
  return { service, store, apiKey, baseUrl, lines, buy, generateOtp: () => post('/account/otp', { method: 'POST' }) };
}

test('logs each request in one line, without secrets', async () => {
  const { buy, generateOtp, lines, apiKey, baseUrl } = await startObserved();
  const vm = await buy(SMALL_VM);
  const otp = await generateOtp();
  await fetch(`${baseUrl}/vm/create?key=${apiKey}`, { headers: { 'x-service-apikey': apiKey } });
  const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  expect(requests.map(({ operation, status }) => [operation, status])).toEqual([
    ['createVm', 200],
    ['generateOtp', 200],
    ['none', 405],
  ]);
  expect(requests[0]).toMatchObject({ requestId: vm.requestID, account: expect.any(String), milliseconds: expect.any(Number) });
  const log = lines.join('');
  for (const secret of [apiKey, vm.data.config.password, otp.data.otp_code]) {
    expect(secret).toBeTruthy();
    expect(log).not.toContain(secret);
  }
});

test.each(['trace', 'warn', 'error'])(
  'at log level %s, logs a 500 under its requestID with method, path, operation and client',
  async (level) => {
    const { baseUrl, store, apiKey, lines } = await startObserved(level);
    await store.commit(({ db }) => db.schema.alterTable('handles').renameTo('gone').execute());
    const ask = (path: string) =>
      fetch(`${baseUrl}${path}`, { headers: { 'x-service-apikey': apiKey, 'x-forwarded-for': '203.0.113.9, 2001:DB8::7' } });
    const failed = await ask('/domain/handle/HDL-ABCDEFGHJKLM/info');
    expect(failed.status).toBe(500);
    const { requestID } = JSON.parse(await failed.text());
    const found = lines.map((line) => JSON.parse(line)).find(({ requestId }) => requestId === requestID);
    expect(found).toMatchObject({
      msg: 'request failed',
      method: 'GET',
      path: '/domain/handle/HDL-ABCDEFGHJKLM/info',
      operation: 'getHandle',
      client: '2001:db8::7',
      account: expect.any(String),
    });
  },
);

test('masks known and unknown keys in the path of a log line', async () => {
  const { baseUrl, apiKey, lines } = await startObserved();
  await fetch(`${baseUrl}/x/${apiKey}`, { headers: { 'x-service-apikey': apiKey } });
  await fetch(`${baseUrl}/x/rsk_live_unknown/rso_abc123`);
  await fetch(`${baseUrl}/x/authcode=abcdef`);
  const paths = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  expect(paths.map(({ path }) => path)).toEqual(['/x/***', '/x/***/***', '/x/authcode=***']);
});

test('counts requests and adds up their seconds by operation and status in metrics, which resellers cannot read', async () => {
  const start = performance.now();
  const { service, buy, baseUrl } = await startObserved();
  await buy(SMALL_VM);
  await buy({ ...SMALL_VM, cores: 99 });
  const { body } = await service.operator.inject({ url: '/metrics', headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } });
  expect(body).toContain('reseller_request_duration_seconds_count{operation="createVm",status="200"} 1');
  expect(body).toContain('reseller_request_duration_seconds_count{operation="createVm",status="422"} 1');
  const [, seconds] = /^reseller_request_duration_seconds_sum\{operation="createVm",status="200"\} (.+)$/m.exec(body) ?? [];
  expect(Number(seconds)).toBeGreaterThan(0);
  expect(Number(seconds)).toBeLessThan((performance.now() - start) / 1000);
  expect((await fetch(`${baseUrl}/metrics`)).status).toBe(404);
});

test('serves probes without a key, with the readiness of the store', async () => {
  const { baseUrl, store } = await startObserved();
  const probe = async (path: string) => (await fetch(baseUrl + path)).status;
  expect([await probe('/healthz'), await probe('/readyz')]).toEqual([200, 200]);
  await store.close();
  // The service reuses the result of a probe for a second.
  await expect.poll(() => probe('/readyz')).toBe(503);
  expect(await probe('/healthz')).toBe(200);
});
