/** A process that is stopped undoes what it made, or says what it leaves. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { command } from './run-command.ts';
import { startStock, STOCK, STOCK_TOKEN } from './stock.ts';
import type { Stock } from './stock.ts';
import { temporaryFolder } from './workspace.ts';

const MAIN = fileURLToPath(import.meta.resolve('../src/main.ts'));

interface Stopped {
  readonly code: number | null;
  readonly output: string;
  /** Paths of the document and the journal. */
  readonly document: string;
  readonly journal: string;
}

/** Runs the command in another process, and sends it a signal when the stock has items, and another one when it stops. */
async function stopped(stock: Stock, signal: NodeJS.Signals, { rate = '30/s', isTwice = false } = {}): Promise<Stopped> {
  const folder = await temporaryFolder();
  const document = join(folder, 'stock.json');
  await writeFile(document, JSON.stringify(STOCK));
  const argv = ['--target', stock.url.href, '--document', document, '--mode', 'full', '--yes', '--rate', rate];
  const environment = { ...process.env, RESELLER_API_KEY: STOCK_TOKEN, RESELLER_DATA_DIR: folder };
  const child = spawn(process.execPath, [MAIN, ...argv], { env: environment, stdio: ['ignore', 'pipe', 'pipe'], cwd: folder });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const end = new Promise<number | null>((resolve) => child.on('close', resolve));
  await expect.poll(() => stock.items.size, { interval: 5 }).toBeGreaterThan(1);
  child.kill(signal);
  if (isTwice) {
    await expect.poll(() => output, { interval: 5 }).toContain('A second signal stops at once');
    child.kill(signal);
  }
  return { code: await end, output, document, journal: join(folder, 'contract-journal.jsonl') };
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s: the run removes what it made, and ends with %i', async (signal, expected) => {
  const stock = await startStock();
  const { code, output } = await stopped(stock, signal);
  expect({ code, output }).toEqual({
    code: expected,
    output: expect.stringMatching(/The run was stopped after \d+ requests\.\nNothing is left/),
  });
  expect([...stock.items.values()]).toEqual([]);
});

test('a stopped run whose removals are refused lists each thing with a command, and ends with 3', async () => {
  const stock = await startStock({ status: (method) => (method === 'DELETE' ? 500 : undefined) });
  const { code, output } = await stopped(stock, 'SIGTERM');
  expect({ code, output }).toMatchObject({ code: 3 });
  for (const id of stock.items.keys()) expect(output).toMatch(new RegExp(`addItem \\(id ${id}\\): .*curl -i -X DELETE .*/items/${id}'`));
});

test('a second signal ends the process, and the next run removes the rest', async () => {
  const stock = await startStock();
  const { code, document, journal } = await stopped(stock, 'SIGINT', { rate: '8/s', isTwice: true });
  expect(code).toBe(130);
  expect(stock.items.size).toBeGreaterThan(0);
  const argv = ['--target', stock.url.href, '--document', document, '--mode', 'full', '--yes', '--only', 'getMe'];
  const next = await command(argv, { RESELLER_API_KEY: STOCK_TOKEN }, { journal });
  // Only the resource of a request that the signal interrupted is unknown. The next run tells it.
  const isUnknown = next.code === 3;
  expect(stock.items.size).toBe(isUnknown ? 1 : 0);
  if (isUnknown) expect(next.output).toContain('addItem of an earlier run: the run ended before the response');
});
