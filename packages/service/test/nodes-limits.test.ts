/** Several nodes on one PostgreSQL database: limits hold over all of them together. */
import { expect, test } from 'vitest';

import { newNodes } from './nodes.ts';
import type { TestNode } from './nodes.ts';

async function three(): Promise<readonly [TestNode, TestNode, TestNode]> {
  const nodes = await newNodes();
  return [await nodes.start(), await nodes.start(), await nodes.start()];
}

/** Sends requests to the nodes in turn, all at once. */
async function statusesOf<T extends { readonly status: number }>(
  nodes: readonly TestNode[],
  count: number,
  send: (node: TestNode, number: number) => Promise<T>,
): Promise<{ readonly counts: Record<number, number>; readonly answers: T[] }> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, number) => {
      const node = nodes[number % nodes.length];
      if (!node) throw new Error('There is no node.');
      return send(node, number);
    }),
  );
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return { counts, answers };
}

test('of 100 requests of a key at once to three nodes exactly as many pass as its limit allows', async () => {
  const nodes = await three();
  expect((await nodes[0].operate('PUT', '/settings/rate-limit', { rate_limit: { requests: 37, seconds: 3_600 } })).status).toBe(200);
  const { counts, answers } = await statusesOf(nodes, 100, (node) => node.call('listDomains'));
  expect(counts).toEqual({ 200: 37, 429: 63 });
  for (const { status, headers } of answers) if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(3_500);
  // Another limit begins anew.
  await nodes[1].operate('PUT', '/settings/rate-limit', { rate_limit: { requests: 38, seconds: 3_600 } });
  expect((await nodes[2].call('listDomains')).status).toBe(200);
});

test('a window that has ended lets requests through again', async () => {
  const [one, other] = await three();
  await one.operate('PUT', '/settings/rate-limit', { rate_limit: { requests: 1, seconds: 1 } });
  expect([(await one.call('listDomains')).status, (await other.call('listDomains')).status].toSorted()).toEqual([200, 429]);
  await expect.poll(async () => (await other.call('listDomains')).status, { interval: 50, timeout: 5_000 }).toBe(200);
});

test('limits wrong API keys across all instances together', async () => {
  const nodes = await three();
  const { counts } = await statusesOf(nodes, 130, (node) => node.call('listDomains', { apiKey: 'guess' }));
  expect(counts).toEqual({ 401: 100, 429: 30 });
  expect((await nodes[2].call('listDomains')).status).toBe(200);
});

test('limits wrong operator tokens across all instances together', async () => {
  const nodes = await three();
  const guess = async ({ service }: TestNode) => {
    const { statusCode: status } = await service.operator.inject({ url: '/accounts', headers: { authorization: 'Bearer guess' } });
    return { status };
  };
  expect((await statusesOf(nodes, 30, guess)).counts).toEqual({ 401: 20, 429: 10 });
});

test('of wrong one-time codes at once on three nodes five are looked at, and then the right one is not', async () => {
  const nodes = await three();
  const { body } = await nodes[0].call('generateOtp');
  const right: string = body.data.otp_code;
  const wrong = (number: number) => String((Number(right) + 1 + number) % 100_000_000).padStart(8, '0');
  const verifier = await nodes[0].operate('POST', '/verifiers', { name: 'Desk' });
  const { token } = Object(verifier.body);
  const verify = (node: TestNode, code: string) => node.operate('POST', '/otp/verify', { code }, token);
  const { counts } = await statusesOf(nodes, 12, (node, number) => verify(node, wrong(number)));
  expect(counts).toEqual({ 404: 5, 429: 7 });
  expect((await verify(nodes[1], right)).status).toBe(429);
});
