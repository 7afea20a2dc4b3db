import { readFile } from 'node:fs/promises';

import { errorText } from '@reseller/contract';

import { isJson } from './prism-document.ts';

try {
  const port = portFrom(process.env['MOCK_PORT'], 4020);
  const document = await readBundle();
  // Loaded after the settings are checked, because Prism takes a second to load.
  const { startMock } = await import('./mock.ts');
  const mock = await startMock({
    document,
    port,
    log: (line) => process.stdout.write(`${line}\n`),
  });
  process.stdout.write(`Mock: ${mock.url}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void mock.close());
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`);
  process.exitCode = 1;
}

async function readBundle(): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(new URL(import.meta.resolve('@reseller/openapi/service.json')), 'utf8').catch(() => {
    throw new Error('The bundle openapi/generated/service.json is missing. Generate it: npx -y pnpm@12 generate');
  });
  const document: unknown = JSON.parse(text);
  if (!isJson(document)) {
    throw new Error('The bundle openapi/generated/service.json is not a document. Generate it: npx -y pnpm@12 generate');
  }
  return document;
}

function portFrom(text: string | undefined, standard: number): number {
  if (text === undefined || text === '') return standard;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new Error(`MOCK_PORT is '${text}'. It must be a whole number from 0 to 65535, where 0 picks a free port.`);
  }
  return port;
}
