/** Runs the commands of the page "The first day of a provider" in live mode, and ends the month. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { createClient, listInvoices } from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { blocksOf, programOf } from '../../../.config/blocks.ts';
import { startServer, temporaryDirectory } from './process.ts';
import { runScript, withFreePorts } from './runbook.ts';

const BLOCKS = blocksOf(resolve(import.meta.dirname, '../../docs/site/operator/first-day.md'));
const LATER = 40 * 86_400_000;

test('the commands lead from an empty live service to a VM and its invoice', async () => {
  const data = join(temporaryDirectory(), 'data');
  const commands = (await withFreePorts(programOf(BLOCKS, 'sh'), ['4010', '4011'])).replaceAll('/var/lib/reseller', data);
  const ports = /RESELLER_PUBLIC_URL=\S+:(\d+)[^]*127\.0\.0\.1:(\d+)\/readyz/.exec(commands) ?? [];
  const secrets = 'kill $service; wait $service || true; echo "secrets $RESELLER_SECRET $RESELLER_OPERATOR_TOKEN"';
  const script = `export RESELLER_PORT=${ports[1]} RESELLER_OPERATOR_PORT=${ports[2]}\n${commands}\n${secrets}\n`;
  const { code, stdout, stderr } = await runScript(script);
  expect({ code, problems: code === 0 ? '' : `${stderr}${stdout}` }).toEqual({ code: 0, problems: '' });
  expect(stdout).toContain(programOf(BLOCKS, 'text').trim());
  expect(stdout).toContain('"status":"success"');
  expect(stdout).toContain('{"items":[],"next_cursor":null}');

  const [, secret = '', token = ''] = /^secrets (\w+) (\w+)$/m.exec(stdout) ?? [];
  const clock = join(temporaryDirectory(), 'clock');
  writeFileSync(clock, String(LATER));
  const server = await startServer({
    RESELLER_MODE: 'live',
    RESELLER_INFRASTRUCTURE: 'simulated',
    RESELLER_EXTENSION: 'on',
    RESELLER_PUBLIC_URL: 'https://api.example.com',
    RESELLER_DATA_DIR: data,
    RESELLER_SECRET: secret,
    RESELLER_OPERATOR_TOKEN: token,
    RESELLER_CLOCK_CONFIRMED_UNTIL: new Date(Date.now() + LATER + 86_400_000).toISOString(),
    NODE_OPTIONS: `--import=${new URL('faults/shifted-clock.ts', import.meta.url).href}`,
    CLOCK_FILE: clock,
  });
  const client = createClient({ baseUrl: server.operatorUrl, token });
  const { items } = await listInvoices({ client, query: {} });
  expect(items.at(-1)).toMatchObject({ number: 'INV-00001' });
});
