/**
 * Measures how long all other requests wait while an account with many VMs does something.
 *
 *   node packages/service/bench/large-account.ts [VMs, default 20000] [URL of an empty PostgreSQL database]
 */
import { report } from '../../../.config/bench-row.ts';
import { runScheduledJobs } from '../src/core/jobs/run-jobs.ts';
import { copyVms } from '../test/large-account.ts';
import { startBenchClient, startBenchService } from './bench-service.ts';
import type { BenchRequest } from './bench-service.ts';

const VMS = Number(process.argv[2] ?? 20_000);
const databaseUrl = process.argv[3];
const ROUNDS = 3;
/** Reads of the running invoice before the request log is read. */
const LOGGED_READS = 50;

const bench = await startBenchService(databaseUrl);
const { engine, ports, store, runtime, reseller, operator } = bench;
const account = await bench.newAccount('large');
const client = startBenchClient(account);
/** The longest time between two turns of the event loop since it was last reset, and the longest CPU time. */
let longestStall = 0;
let longestCpu = 0;
let lastTurn = performance.now();
let lastCpu = cpuTime();
setInterval(() => {
  const now = performance.now();
  longestStall = Math.max(longestStall, now - lastTurn);
  lastTurn = now;
  const cpu = cpuTime();
  longestCpu = Math.max(longestCpu, cpu - lastCpu);
  lastCpu = cpu;
}, 1).unref();

/** Milliseconds of CPU time of this thread, which other processes do not influence. */
function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

async function send(method: BenchRequest['method'], url: string, body?: string): Promise<number> {
  return (await client.send({ method, url, ...(body !== undefined && { body }) })).bytes;
}

async function measure(name: string, work: () => Promise<number | void>): Promise<void> {
  const rounds: number[] = [];
  const details: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await new Promise((resolve) => void setTimeout(resolve, 200));
    longestStall = 0;
    longestCpu = 0;
    const begun = performance.now();
    const bytes = await work();
    const milliseconds = performance.now() - begun;
    // The log entry of the request may be written after its response.
    await new Promise((resolve) => void setTimeout(resolve, 50));
    rounds.push(longestStall);
    details.push(
      `${milliseconds.toFixed(0)} ms, longest turn ${longestCpu.toFixed(0)} ms of CPU${bytes ? `, ${(bytes / 1e6).toFixed(1)} MB` : ''}`,
    );
  }
  report({
    name: `${engine}: others wait while an account of ${VMS} VMs ${name}`,
    unit: 'ms',
    target: { kind: 'at most', value: 50 },
    rounds,
    detail: details.join('; '),
  });
}

await send('PUT', `${reseller}/vm/create`, 'cores=1&mem=1024&disk=10&os=debian_12&hostsystem=nl_ryzen');
await store.commit(({ db }) => copyVms(db, account.id, VMS));

await measure('reads its running invoice', () => send('GET', `${reseller}/accounting/invoices/current`));
await measure('lists its VMs', () => send('GET', `${reseller}/vm/list`));
await measure('is shown to the operator', () => send('GET', `${operator}/accounts/${account.id}/current-invoice`));
await measure('is exported', () => send('GET', `${operator}/accounts/${account.id}/export`));
await measure('ends a month', async () => {
  bench.enterNextMonth();
  await runScheduledJobs(runtime, {
    now: async () => ports.clock.now(),
    others: 'skip',
    onFailure({ error }) {
      throw error;
    },
  });
});
const { id: invoiceId } = await store.read((db) => db.selectFrom('invoices').select('id').orderBy('created').executeTakeFirstOrThrow());
await measure('reads a closed invoice', () => send('GET', `${reseller}/accounting/invoices/${invoiceId}`));
await measure('is shown a closed invoice', () => send('GET', `${operator}/invoices/${invoiceId}`));
for (let read = 0; read < LOGGED_READS; read++) await send('GET', `${reseller}/accounting/invoices/current`);
await measure('reads its request log', () => send('POST', `${reseller}/account/requests`, 'offset=1'));
await measure('buys a VM', () => send('PUT', `${reseller}/vm/create`, 'cores=1&mem=1024&disk=10&os=debian_12&hostsystem=nl_ryzen'));
report({
  name: `${engine}: resident memory after that, with ${VMS} VMs`,
  unit: 'MiB',
  target: { kind: 'at most', value: 400 },
  rounds: [process.memoryUsage.rss() / 2 ** 20],
  detail: `store ${((await store.requestLog.storeSize()) / 1e6).toFixed(0)} MB`,
});
client.end();
await bench.close();
