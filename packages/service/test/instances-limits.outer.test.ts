/** Several instances on one PostgreSQL database share every limit. */
import { expect, test } from 'vitest';

import { newInstances } from './instances.ts';
import type { TestInstance } from './instances.ts';

async function three(): Promise<readonly [TestInstance, TestInstance, TestInstance]> {
  const instances = await newInstances();
  return [await instances.start(), await instances.start(), await instances.start()];
}

/** Sends requests to the instances in turn, all at the same time. */
async function statusesOf<T extends { readonly status: number }>(
  instances: readonly TestInstance[],
  count: number,
  send: (node: TestInstance, number: number) => Promise<T>,
): Promise<{ readonly counts: Record<number, number>; readonly responses: T[] }> {
  const responses = await Promise.all(
    Array.from({ length: count }, (_, number) => {
      const instance = instances[number % instances.length];
      if (!instance) throw new Error('There is no instance.');
      return send(instance, number);
    }),
  );
  const counts: Record<number, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return { counts, responses };
}

test('lets exactly as many of 100 simultaneous requests through three instances as the limit of the key allows', async () => {
  const instances = await three();
  expect((await instances[0].operate('PUT', '/settings/rate-limit', { rate_limit: { requests: 37, seconds: 3_600 } })).status).toBe(200);
  const { counts, responses } = await statusesOf(instances, 100, (instance) => instance.call('listDomains'));
  expect(counts).toEqual({ 200: 37, 429: 63 });
  // The next request is allowed 3,600 / 37 seconds after the first.
  const waits = responses.flatMap(({ status, headers }) => (status === 429 ? [Number(headers.get('retry-after'))] : []));
  expect(Math.max(...waits)).toBeLessThanOrEqual(98);
  expect(Math.min(...waits)).toBeGreaterThan(1);
  // A new limit starts with a new count.
  await instances[1].operate('PUT', '/settings/rate-limit', { rate_limit: { requests: 38, seconds: 3_600 } });
  expect((await instances[2].call('listDomains')).status).toBe(200);
});

test('lets requests through again after the window has ended', async () => {
  const [one, other] = await three();
  await one.operate('PUT', '/settings/rate-limit', { rate_limit: { requests: 1, seconds: 1 } });
  expect([(await one.call('listDomains')).status, (await other.call('listDomains')).status].toSorted()).toEqual([200, 429]);
  await expect.poll(async () => (await other.call('listDomains')).status, { interval: 50 }).toBe(200);
});

test('limits wrong API keys across all instances together', async () => {
  const instances = await three();
  const { counts } = await statusesOf(instances, 130, (instance) => instance.call('listDomains', { apiKey: 'guess' }));
  expect(counts).toEqual({ 401: 100, 429: 30 });
  expect((await instances[2].call('listDomains')).status).toBe(200);
});

test('limits wrong operator tokens across all instances together', async () => {
  const instances = await three();
  const guess = async ({ service }: TestInstance) => {
    const { statusCode: status } = await service.operator.inject({ url: '/accounts', headers: { authorization: 'Bearer guess' } });
    return { status };
  };
  expect((await statusesOf(instances, 30, guess)).counts).toEqual({ 401: 20, 429: 10 });
});

test('checks five of the wrong one-time codes sent to three instances, and then refuses the right one', async () => {
  const instances = await three();
  const { body } = await instances[0].call('generateOtp');
  const right: string = body.data.otp_code;
  const wrong = (number: number) => String((Number(right) + 1 + number) % 100_000_000).padStart(8, '0');
  const verifier = await instances[0].operate('POST', '/verifiers', { name: 'Desk' });
  const { token } = Object(verifier.body);
  const verify = (node: TestInstance, code: string) => node.operate('POST', '/otp/verify', { code }, token);
  const { counts } = await statusesOf(instances, 12, (instance, number) => verify(instance, wrong(number)));
  expect(counts).toEqual({ 404: 5, 429: 7 });
  expect((await verify(instances[1], right)).status).toBe(429);
});
