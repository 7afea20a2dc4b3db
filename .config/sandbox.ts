/** A sandbox as a process, for the code of guides and samples. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { printedFact } from './printed-fact.ts';
import { serverProgram } from './server-program.ts';

export const REPOSITORY = resolve(import.meta.dirname, '..');

export interface Sandbox {
  readonly baseUrl: string;
  readonly operatorUrl: string;
  readonly apiKey: string;
  readonly operatorToken: string;
  readonly dataDirectory: string;
  /** The text that it printed. */
  readonly welcome: string;
  /** The environment of programs that use it. */
  readonly environment: NodeJS.ProcessEnv;
  /** A text with the addresses of a usual sandbox replaced by those of this one. */
  withAddresses(text: string): string;
  stop(): Promise<void>;
}

/** @throws Error with its output if it does not start. */
export async function startSandbox(settings: Readonly<Record<string, string>> = {}): Promise<Sandbox> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'docs-sandbox-'));
  const child = spawn(process.execPath, [serverProgram()], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      RESELLER_PORT: '0',
      RESELLER_OPERATOR_PORT: '0',
      // No load balancer has to notice that it stops.
      RESELLER_DRAIN_SECONDS: '0',
      RESELLER_DATA_DIR: dataDirectory,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (/^curl .*\n/m.test(output)) break;
  }
  const baseUrl = printedFact(output, 'Base URL');
  const operatorUrl = printedFact(output, 'Operator');
  const apiKey = printedFact(output, 'API key');
  const operatorToken = printedFact(output, 'Operator token');
  return {
    baseUrl,
    operatorUrl,
    apiKey,
    operatorToken,
    dataDirectory,
    welcome: output,
    environment: {
      ...process.env,
      RESELLER_PORT: new URL(baseUrl).port,
      RESELLER_API_KEY: apiKey,
      RESELLER_OPERATOR_TOKEN: operatorToken,
      RESELLER_DATA_DIR: dataDirectory,
    },
    withAddresses: (text) =>
      text
        .replaceAll("environment: 'sandbox'", `baseUrl: '${baseUrl}'`)
        .replaceAll('http://127.0.0.1:4010', baseUrl)
        .replaceAll('http://127.0.0.1:4011', operatorUrl)
        .replaceAll('.data/', `${dataDirectory}/`),
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}
