/**
 * Measures the longest time for which one request of at most 64 kB stops all others, over all operations of both APIs and hostile forms of
 * each kind.
 *
 *   node packages/service/bench/worst-request.ts [rounds, default 3]
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';

import { report } from '../../../.config/bench-row.ts';
import { OPERATOR_CREDENTIALS, startBenchService } from './bench-service.ts';
import { hostileRequests } from './hostile-requests.ts';
import type { HostileRequest } from './hostile-requests.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
/** The requests that are sent again, because a single stall can be a collection of garbage. */
const REPEATED = 30;
const REPETITIONS = 5;

const bench = await startBenchService();
const { apiKey } = await bench.newAccount('bench');
const addresses = { reseller: bench.reseller, operator: bench.operator };
const credentials = { reseller: { 'x-service-apikey': apiKey }, operator: OPERATOR_CREDENTIALS };
// The client has a thread, so that its work is not measured.
const client = new Worker(
  `const { parentPort } = require('node:worker_threads');
  parentPort.on('message', async ({ url, init }) => {
    const response = await fetch(url, init);
    await response.arrayBuffer();
    parentPort.postMessage(response.status);
  });`,
  { eval: true },
);
const stalls = monitorEventLoopDelay({ resolution: 1 });
stalls.enable();

/** Milliseconds of the longest stall while a request is carried out. */
async function stallOf({ api, method, path, headers, body, name }: HostileRequest): Promise<number> {
  stalls.reset();
  const init = { method, headers: { ...headers, ...credentials[api] }, ...(body === undefined ? {} : { body }) };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- It is a thread, not a window.
  client.postMessage({ url: addresses[api] + path, init });
  const status = await new Promise<number>((resolve) => void client.once('message', resolve));
  if (status >= 500) throw new Error(`${name}: the response has status ${status}.`);
  // The log entry of the request may be written after its response.
  await new Promise((resolve) => void setTimeout(resolve, 2));
  return stalls.max / 1e6;
}

interface Stall {
  readonly request: HostileRequest;
  readonly milliseconds: number;
}

async function worstOf(requests: readonly HostileRequest[]): Promise<Stall | undefined> {
  const first: Stall[] = [];
  for (const request of requests) first.push({ request, milliseconds: await stallOf(request) });
  const repeated: Stall[] = [];
  for (const { request, milliseconds } of first.toSorted((one, other) => other.milliseconds - one.milliseconds).slice(0, REPEATED)) {
    let least = milliseconds;
    for (let count = 1; count < REPETITIONS; count++) least = Math.min(least, await stallOf(request));
    repeated.push({ request, milliseconds: least });
  }
  return repeated.toSorted((one, other) => other.milliseconds - one.milliseconds)[0];
}

const requests = hostileRequests();
const worst: Stall[] = [];
for (let round = 0; round < ROUNDS; round++) worst.push(...[await worstOf(requests)].flatMap((stall) => stall ?? []));
report({
  name: 'Embedded: longest stall by one request of at most 64 kB',
  unit: 'ms',
  target: { kind: 'at most', value: 20 },
  rounds: worst.map(({ milliseconds }) => milliseconds),
  detail: `${requests.length} requests; worst: ${[...new Set(worst.map(({ request }) => request.name))].join('; ')}`,
});
await client.terminate();
await bench.close();
