/** Measures how much longer a read-only run takes than the same requests alone, sent one after the other. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import type { OpenApiDocument } from '@reseller/contract';
import { runContract } from '@reseller/contract/engine';

import { median, report } from '../../../.config/bench-row.ts';
import { loadDocument } from '../src/document.ts';

const ROUNDS = 21;

interface Service {
  readonly name: string;
  readonly target: URL;
  readonly apiKey: string;
  close(): Promise<void>;
}

async function measure(document: OpenApiDocument, { name, target, apiKey }: Service): Promise<void> {
  // A new object for each run, because a command starts without cached schemas.
  function fresh(): OpenApiDocument {
    return structuredClone(document);
  }
  const sent: Request[] = [];
  function remember(request: Request): Promise<Response> {
    sent.push(request.clone());
    return fetch(request);
  }
  await runContract({ document: fresh(), target, apiKey, send: remember });
  const requests = await Promise.all(sent.map(plain));
  const runs: number[] = [];
  const bares: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const options = { document: fresh(), target, apiKey };
    let begun = performance.now();
    await runContract(options);
    runs.push(performance.now() - begun);
    begun = performance.now();
    for (const { url, method, headers, body } of requests)
      await (await fetch(url, { method, headers, ...(body === '' ? {} : { body }) })).arrayBuffer();
    bares.push(performance.now() - begun);
  }
  report({
    name: `Contract: read-only run / its requests bare, on a ${name}`,
    unit: '',
    target: { kind: 'at most', value: 3 },
    rounds: runs.map((run, index) => run / (bares[index] ?? 0)),
    detail: `${requests.length} requests, ${median(runs).toFixed(0)} and ${median(bares).toFixed(0)} ms`,
  });
}

async function plain(request: Request): Promise<{ url: string; method: string; headers: Headers; body: string }> {
  return { url: request.url, method: request.method, headers: request.headers, body: await request.text() };
}

/** Starts the sandbox in a separate process, like any tested service. */
async function startSandbox(): Promise<Service> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'service.ts')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  const { target, apiKey }: { target: string; apiKey: string } = JSON.parse(String(line));
  return {
    name: 'sandbox',
    target: new URL(target),
    apiKey,
    async close() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

const service = await startSandbox();
await measure(await loadDocument(), service);
await service.close();
