/** The embedded store. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { median } from '../../../.config/bench-row.ts';
import type { Row } from '../../../.config/bench-row.ts';
import { load, PURCHASE, READ, send } from './load.ts';
import type { Plan } from './main.ts';
import { run } from './processes.ts';
import type { Running, ServiceFigures, ServiceOptions, StartedService } from './processes.ts';

const LOG_ENTRIES = 1_000_000;
const DEEP_OFFSET = 900_000;
const OFFSET_REQUESTS = 50;
/** In the mixed load. */
const PURCHASES_PER_SECOND = 100;

function start(options: ServiceOptions): Promise<Running<StartedService>> {
  return run('service', options);
}

export async function* embeddedRows(plan: Plan): AsyncGenerator<Row> {
  yield* throughput(plan);
  yield* fairness(plan);
  yield* mixedLoad(plan);
  yield* longLog(plan);
}

async function* throughput({ seconds, rounds, progress }: Plan): AsyncGenerator<Row> {
  const first = await start({ accounts: 1 });
  const [read, purchase] = [await send(first.started, READ), await send(first.started, PURCHASE)];
  await first.stop();
  const bare = await run<StartedService>('bare', { read, purchase });
  const figures = { read: [0], bareRead: [0], purchase: [0], barePurchase: [0], bytes: [0] };
  for (const list of Object.values(figures)) list.length = 0;
  for (let round = 1; round <= rounds; round++) {
    progress(`embedded throughput, round ${round} of ${rounds}`);
    // An empty store for each round, because there are only 90,000 identifiers of VMs.
    const service = await start({ accounts: 1 });
    await load(service.started, READ, 1);
    figures.bareRead.push((await load(bare.started, READ, seconds)).perSecond);
    const { storeBytes } = await service.ask<ServiceFigures>({});
    const { perSecond } = await load(service.started, READ, seconds);
    figures.read.push(perSecond);
    figures.bytes.push(((await service.ask<ServiceFigures>({})).storeBytes - storeBytes) / (perSecond * seconds));
    figures.barePurchase.push((await load(bare.started, PURCHASE, seconds)).perSecond);
    figures.purchase.push((await load(service.started, PURCHASE, seconds)).perSecond);
    await service.stop();
  }
  await bare.stop();
  yield {
    name: 'Embedded: read / bare Fastify',
    unit: '',
    target: { kind: 'at least', value: 0.4 },
    rounds: figures.read.map((value, index) => value / (figures.bareRead[index] ?? 0)),
    detail: `${Math.round(median(figures.read))} and ${Math.round(median(figures.bareRead))} per second`,
  };
  yield {
    name: 'Embedded: durable purchase / bare Fastify',
    unit: '',
    target: { kind: 'at least', value: 0.12 },
    rounds: figures.purchase.map((value, index) => value / (figures.barePurchase[index] ?? 0)),
    detail: `${Math.round(median(figures.purchase))} and ${Math.round(median(figures.barePurchase))} per second`,
  };
  yield {
    name: 'Embedded: storage for a read of the catalogue',
    unit: 'bytes',
    target: { kind: 'at most', value: 1_000 },
    rounds: figures.bytes,
    detail: 'growth of the store during the reads above',
  };
}

/** Latency of one account's reads while another account loads purchases. */
async function* fairness({ seconds, rounds, progress }: Plan): AsyncGenerator<Row> {
  const ratios: number[] = [];
  const details: string[] = [];
  for (let round = 1; round <= rounds; round++) {
    progress(`latency of reads next to purchases, round ${round} of ${rounds}`);
    const service = await start({ accounts: 2 });
    const [reader = '', buyer = ''] = service.started.apiKeys;
    function reads() {
      return load({ ...service.started, apiKeys: [reader] }, READ, seconds, { connections: 8 });
    }
    await reads();
    const alone = await reads();
    const [loaded] = await Promise.all([reads(), load({ ...service.started, apiKeys: [buyer] }, PURCHASE, seconds, { connections: 32 })]);
    ratios.push(loaded.p99Ms / Math.max(alone.p99Ms, 1));
    details.push(`${loaded.p99Ms} and ${alone.p99Ms} ms`);
    await service.stop();
  }
  yield {
    name: 'Embedded: p99 of reads next to purchases / alone',
    unit: '',
    target: { kind: 'at most', value: 3 },
    rounds: ratios,
    detail: details.join(', '),
  };
}

/** Reads and purchases at once, for minutes. */
async function* mixedLoad({ minutes, progress }: Plan): AsyncGenerator<Row> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-mixed-'));
  const first = await start({ accounts: 4, directory });
  await first.stop();
  const service = await start({ accounts: 0, directory });
  const loaded = { ...service.started, apiKeys: first.started.apiKeys };
  function figures() {
    return service.ask<ServiceFigures>({});
  }
  const atRest = (await figures()).residentBytes / 2 ** 20;
  const resident: number[] = [];
  const stalls: number[] = [];
  const slices = Math.max(2, Math.ceil(minutes * 4));
  for (let slice = 1; slice <= slices; slice++) {
    progress(`mixed load, ${slice} of ${slices}`);
    const sliceSeconds = (minutes * 60) / slices;
    await Promise.all([
      load(loaded, READ, sliceSeconds, { connections: 32 }),
      // So few that the identifiers of VMs suffice for ten minutes.
      load(loaded, PURCHASE, sliceSeconds, { connections: 8, rate: PURCHASES_PER_SECOND }),
    ]);
    const { residentBytes, longestStallMs } = await figures();
    resident.push(residentBytes / 2 ** 20);
    stalls.push(longestStallMs);
  }
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
  yield {
    name: 'Embedded: longest stall of the event loop under mixed load',
    unit: 'ms',
    target: { kind: 'at most', value: 50 },
    rounds: [Math.max(...stalls)],
    detail: `median of ${slices} parts ${median(stalls).toFixed(0)} ms`,
  };
  yield {
    name: 'Embedded: resident memory at rest',
    unit: 'MiB',
    target: { kind: 'at most', value: 160 },
    rounds: [atRest],
    detail: 'after start',
  };
  yield {
    name: 'Embedded: resident memory after mixed load',
    unit: 'MiB',
    target: { kind: 'at most', value: 320 },
    rounds: [resident.at(-1) ?? Number.NaN],
    detail: `${minutes} minutes; at half of them ${Math.round(resident[Math.floor(slices / 2)] ?? 0)} MiB`,
  };
}

/** A request log with a million entries. */
async function* longLog({ rounds, progress }: Plan): AsyncGenerator<Row> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-log-'));
  progress(`a request log with ${LOG_ENTRIES} entries`);
  const first = await start({ accounts: 1, directory });
  const { apiKeys } = first.started;
  await first.stop();
  fillLog(join(directory, 'store.sqlite'));
  const ratios: number[] = [];
  const times: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const bareMs = await timed(async () => (await run<StartedService>('bare', { read: '', purchase: '' })).stop);
    const serviceMs = await timed(async () => (await start({ accounts: 0, directory })).stop);
    ratios.push(serviceMs / bareMs);
    times.push(`${Math.round(serviceMs)} and ${Math.round(bareMs)} ms`);
  }
  yield {
    name: 'Embedded: start with 1,000,000 log entries / bare Fastify',
    unit: '',
    target: { kind: 'at most', value: 3 },
    rounds: ratios,
    detail: times.join(', '),
  };
  const service = await start({ accounts: 0, directory });
  const known = { ...service.started, apiKeys };
  function page(offset: number) {
    return averageMs(OFFSET_REQUESTS, () => send(known, { method: 'POST', path: '/account/requests', body: `offset=${offset}` }));
  }
  const offsets: number[] = [];
  const pages: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const [near, deep] = [await page(1), await page(DEEP_OFFSET)];
    offsets.push(deep / near);
    pages.push(`${deep.toFixed(2)} and ${near.toFixed(2)} ms`);
  }
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
  yield {
    name: 'Embedded: request log at offset 900,000 / at offset 1',
    unit: '',
    target: { kind: 'at most', value: 2 },
    rounds: offsets,
    detail: pages.join(', '),
  };
}

/** Copies the newest entry of the bench account until the log is long. */
function fillLog(file: string): void {
  const connection = new DatabaseSync(file);
  const account = connection.prepare("select id from accounts where name = 'bench 0'").get()?.['id'] ?? null;
  connection
    .prepare(
      `with recursive entry (number) as (select 1 union all select number + 1 from entry where number < ${LOG_ENTRIES})
       insert into request_log (account_id, number, position, month, request_id, date, success, endpoint, method, request_body, error_type, response_body)
       select ?, number, number * 300, 202601, 'bench-' || number, 1767225600000 + number, 1, '/vm/list/hosts', 'GET', '{}', null, '{}' from entry`,
    )
    .run(account);
  connection.close();
}

async function timed(started: () => Promise<() => Promise<void>>): Promise<number> {
  const begun = performance.now();
  const stop = await started();
  const milliseconds = performance.now() - begun;
  await stop();
  return milliseconds;
}

async function averageMs(count: number, work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  for (let done = 0; done < count; done++) await work();
  return (performance.now() - begun) / count;
}
