/**
 * One example of each kind of thing outside of the test process: a database server, a process, a browser and a package manager. The inner ring
 * has these four, so that it notices at once when a whole kind is broken. The other tests of each kind are in `*.outer.test.ts`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { openPostgresStore, seedSandbox, simulatedPorts } from '@reseller/service';
import { SMALL_VM, startService } from '@reseller/service/test/harness.ts';
import { expect, inject, onTestFinished, test } from 'vitest';

import { launchBrowser, noBrowser } from '../../../.config/browser.ts';
import { ring } from '../../../.config/rings.ts';
import { REPOSITORY } from '../../../.config/turbo.ts';
import { consoleDirectory } from '../src/console-site.ts';
import { ownPostgres } from './faults/own-postgres.ts';
import { startServer, temporaryDirectory } from './process.ts';

const PURCHASE = new URLSearchParams(Object.entries(SMALL_VM).map(([name, value]) => [name, String(value)]));

test('a database server: a purchase on PostgreSQL is billed', async () => {
  const { url } = await ownPostgres();
  const store = await openPostgresStore(url);
  await seedSandbox(store, simulatedPorts());
  await store.close();
  const service = await startService({ databaseUrl: url });
  const { status, body } = await service.call('createVm', { form: SMALL_VM });
  expect(status).toBe(200);
  const { positions } = (await service.call('getCurrentInvoice')).body.data;
  expect(positions.vms[body.data.identifier]).toMatchObject([{ type: 'CREATE', stop: null, monthlyPrice: 10.4 }]);
});

test('a process: a killed server keeps the purchase to which it responded', async () => {
  const environment = { RESELLER_DATA_DIR: temporaryDirectory() };
  const first = await startServer(environment);
  const headers = { 'X-SERVICE-APIKEY': first.apiKey };
  const { data } = await (await fetch(`${first.baseUrl}/vm/create`, { method: 'PUT', headers, body: PURCHASE })).json();
  await first.end('SIGKILL');
  const second = await startServer(environment);
  const list = await (await fetch(`${second.baseUrl}/vm/list`, { headers })).json();
  expect(list.data.list.map(({ vmid }: { vmid: number }) => vmid)).toContain(data.identifier);
});

test.skipIf(noBrowser !== undefined)('a browser: the printed link signs in to the console, which shows a purchase', async () => {
  // In the other rings, tests read the console that was built before.
  if (ring === 'inner' || !existsSync(consoleDirectory))
    execFileSync(process.execPath, ['build.ts'], { cwd: join(REPOSITORY, 'apps/console'), stdio: 'pipe' });
  const [server, browser] = await Promise.all([startServer({ RESELLER_DATA_DIR: temporaryDirectory() }), launchBrowser()]);
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ locale: 'en-GB' });
  await page.goto(/^ {2}Console +(\S+)$/m.exec(server.welcome)?.[1] ?? expect.fail(server.welcome));
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor();
  await fetch(`${server.baseUrl}/vm/create`, { method: 'PUT', headers: { 'X-SERVICE-APIKEY': server.apiKey }, body: PURCHASE });
  await page.getByRole('row').filter({ hasText: '/vm/create' }).getByText('200 succeeded').waitFor();
});

test('a package manager: the packed client buys a VM from an empty folder', async () => {
  const server = await startServer({ RESELLER_DATA_DIR: temporaryDirectory() });
  const packed = execFileSync(process.execPath, [join(REPOSITORY, '.config/publish/pack-all.ts'), 'packages/client'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const tarball = join(REPOSITORY, /dist\/packages\/\S+/.exec(packed)?.[0] ?? expect.fail(packed));
  // Outside of the repository, so that no module of it is resolved by accident.
  const folder = mkdtempSync(join(inject('diskFolder'), 'empty-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  // It has no dependencies, so npm asks no registry.
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  writeFileSync(
    join(folder, 'buy.js'),
    `import { createReseller } from '@reseller/client';
    const { vm } = createReseller({ baseUrl: process.argv[2], apiKey: process.argv[3] });
    console.log((await vm.create(${JSON.stringify(SMALL_VM)})).identifier);`,
  );
  const bought = execFileSync(process.execPath, ['buy.js', server.baseUrl, server.apiKey], { cwd: folder, encoding: 'utf8' });
  expect(bought).toMatch(/^\d{5}\n$/);
});
