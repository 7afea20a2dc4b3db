/** How much longer a read-only run takes than the same requests sent bare, one after the other as well. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenApiDocument } from '@reseller/contract';
import { runContract } from '@reseller/contract/engine';
import { createService, DEMO_ACCOUNT, issueApiKey, openSqliteStore, seedSandbox, simulatedPorts } from '@reseller/service';
import { pino } from 'pino';
import { loadDocument } from '../src/document.ts';

const ROUNDS = 7;

interface Service {
  readonly name: string;
  readonly target: URL;
  readonly apiKey: string;
  close(): Promise<void>;
}

async function measure(document: OpenApiDocument, { name, target, apiKey }: Service): Promise<void> {
  const runs: number[] = [];
  const bares: number[] = [];
  let requests = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const sent: Request[] = [];
    const send = (request: Request): Promise<Response> => {
      sent.push(request.clone());
      return fetch(request);
    };
    // A document of its own each time, as nothing of the last run is there when a command starts.
    const fresh = structuredClone(document);
    let begun = performance.now();
    await runContract({ document: fresh, target, apiKey, send });
    runs.push(performance.now() - begun);
    requests = sent.length;
    begun = performance.now();
    for (const { url, method, headers, body } of await Promise.all(sent.map(plain)))
      await (await fetch(url, { method, headers, ...(body === '' ? {} : { body }) })).arrayBuffer();
    bares.push(performance.now() - begun);
  }
  const [run, bare] = [median(runs), median(bares)];
  process.stdout.write(
    `${name}: ${requests} requests, run ${run.toFixed(0)} ms, bare ${bare.toFixed(0)} ms, ${(run / bare).toFixed(1)} times\n`,
  );
}

async function plain(request: Request): Promise<{ url: string; method: string; headers: Headers; body: string }> {
  return { url: request.url, method: request.method, headers: request.headers, body: await request.text() };
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

async function startSandbox(): Promise<Service> {
  const directory = mkdtempSync(join(tmpdir(), 'contract-bench-'));
  const ports = simulatedPorts();
  const store = await openSqliteStore(directory);
  await seedSandbox(store, ports);
  const apiKey = await store.commit(({ db }) => issueApiKey(db, ports, DEMO_ACCOUNT, { label: 'bench', mode: 'sandbox' }));
  const service = await createService({ store, ports, secret: 'x'.repeat(32), logger: pino({ level: 'silent' }) });
  return {
    name: 'sandbox',
    target: new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })),
    apiKey,
    async close() {
      await service.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const service = await startSandbox();
await measure(await loadDocument(), service);
await service.close();
