import { Writable } from 'node:stream';

import { createClient, createVm, generateOtp } from '@reseller/client';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';

import { createService } from '../index.ts';
import { SMALL_VM, startService } from '../../test/harness.ts';

/** A second service on the store of a test, with its log in memory. */
async function observed() {
  const { store, ports, apiKey } = await startService();
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const service = await createService({ store, ports, secret: 'y'.repeat(32), logger: pino({ level: 'trace' }, stream) });
  onTestFinished(() => service.close());
  const baseUrl = await service.app.listen({ host: '127.0.0.1', port: 0 });
  return { service, store, apiKey, baseUrl, lines, client: createClient({ baseUrl, apiKey }) };
}

test('each request is one line, without anything secret', async () => {
  const { client, lines, apiKey, baseUrl } = await observed();
  const vm = await createVm({ client, body: SMALL_VM });
  const otp = await generateOtp({ client });
  await fetch(`${baseUrl}/vm/create?key=${apiKey}`, { headers: { 'x-service-apikey': apiKey } });
  const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  expect(requests.map(({ operation, status }) => [operation, status])).toEqual([
    ['createVm', 200],
    ['generateOtp', 200],
    ['none', 405],
  ]);
  expect(requests[0]).toMatchObject({ requestId: vm.data?.requestID, account: expect.any(String), milliseconds: expect.any(Number) });
  const log = lines.join('');
  for (const secret of [apiKey, vm.data?.data.config.password, otp.data?.data.otp_code]) {
    expect(secret).toBeTruthy();
    expect(log).not.toContain(secret);
  }
});

test('metrics count requests by operation and status, and are not for resellers', async () => {
  const { service, client, baseUrl } = await observed();
  await createVm({ client, body: SMALL_VM });
  await createVm({ client, body: { ...SMALL_VM, cores: 99 } });
  const { body } = await service.operator.inject('/metrics');
  expect(body).toContain('reseller_request_duration_seconds_count{operation="createVm",status="200"} 1');
  expect(body).toContain('reseller_request_duration_seconds_count{operation="createVm",status="422"} 1');
  expect((await fetch(`${baseUrl}/metrics`)).status).toBe(404);
});

test('probes need no key, and readiness is that of the store', async () => {
  const { baseUrl, store } = await observed();
  const probe = async (path: string) => (await fetch(baseUrl + path)).status;
  expect([await probe('/healthz'), await probe('/readyz')]).toEqual([200, 200]);
  await store.close();
  expect([await probe('/healthz'), await probe('/readyz')]).toEqual([200, 503]);
});
