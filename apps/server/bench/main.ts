/**
 * Throughput of an authenticated read and a durable purchase over 64 connections, compared with
 * bare Fastify routes of the same size in the same run. It reports ratios, because machines differ.
 *
 *   npx pnpm@12 --filter @reseller/server bench [seconds per round, default 4]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import autocannon from 'autocannon';

const SECONDS = Number(process.argv[2] ?? 4);
const ROUNDS = 3;
const FORM = 'cores=1&mem=1024&disk=10&os=debian_12&hostsystem=nl_ryzen';

interface Target {
  readonly baseUrl: string;
  readonly headers: Record<string, string>;
  stop(): void;
}

interface Load {
  readonly name: string;
  readonly method: 'GET' | 'PUT';
  readonly path: string;
  readonly body?: string;
  /** Minimum ratio that the design requires. */
  readonly designed: number;
}

const loads: readonly Load[] = [
  { name: 'authenticated read', method: 'GET', path: '/vm/list/hosts', designed: 0.4 },
  { name: 'durable purchase', method: 'PUT', path: '/vm/create', body: FORM, designed: 0.2 },
];

async function start(script: string, input = ''): Promise<{ baseUrl: string; apiKey?: string; stop(): void }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, script)], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(input);
  const [line] = await once(child.stdout, 'data');
  return { ...JSON.parse(String(line)), stop: () => child.kill('SIGTERM') };
}

async function answerOf(target: Target, { method, path, body }: Load): Promise<string> {
  const response = await fetch(target.baseUrl + path, { method, headers: target.headers, ...(body === undefined ? {} : { body }) });
  if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`);
  return response.text();
}

/** Requests per second. */
async function measure(target: Target, { method, path, body }: Load): Promise<number> {
  const result = await autocannon({
    url: target.baseUrl + path,
    method,
    headers: target.headers,
    connections: 64,
    duration: SECONDS,
    ...(body === undefined ? {} : { body }),
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${method} ${path}: ${result.non2xx} responses were refusals, ${result.errors} requests failed.`);
  return result.requests.average;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const started = await start('service.ts');
const service: Target = {
  ...started,
  headers: { 'x-service-apikey': started.apiKey ?? '', 'content-type': 'application/x-www-form-urlencoded' },
};
const [read = '', purchase = ''] = await Promise.all(loads.map((load) => answerOf(service, load)));
const bare: Target = { ...(await start('bare.ts', JSON.stringify({ read, purchase }))), headers: service.headers };
try {
  for (const load of loads) {
    const rounds: { service: number; bare: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push({ service: await measure(service, load), bare: await measure(bare, load) });
    const ratio = median(rounds.map((round) => round.service / round.bare));
    process.stdout.write(
      `${load.name}: ${Math.round(median(rounds.map((round) => round.service)))} requests/s, bare Fastify ${Math.round(median(rounds.map((round) => round.bare)))}, ratio ${ratio.toFixed(2)} (designed for ${load.designed})\n`,
    );
  }
} finally {
  service.stop();
  bare.stop();
}
