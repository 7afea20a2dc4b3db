/** Runs the command in full mode against a service with and without the extension. All operations are named, because a sandbox costs nothing. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readOperations } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';
import type { Report } from '@reseller/contract/engine';
import {
  completeDedicatedSetup,
  createClient,
  listDedicatedServers,
  listMarketItems,
  setVmAbuseStatus,
  orderDedicatedServer,
} from '@reseller/operator-client';
import { expect, onTestFinished, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { sendJson, startServer } from './raw-server.ts';
import { command } from './run-command.ts';
import type { CommandResult } from './run-command.ts';
import { startSandbox } from './sandbox.ts';
import type { Sandbox } from './sandbox.ts';

test('a service without the extension has no findings in a run without --extension', async () => {
  const { code, output } = await runAgainst(await start(false), await idsIn('openapi'));
  expect(summaryOf(output)).toBe('25 of 25 operations verified; 0 violation, 0 discovered, 0 learned');
  expect(code).toBe(0);
});

test('with --extension, every operation of a service with the extension is verified', async () => {
  const specified = await idsIn('openapi');
  const all = await idsIn('service');
  const folder = mkdtempSync(join(tmpdir(), 'extension-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { code, output } = await runAgainst(await start(true), all, '--extension', '--report', folder);
  expect(summaryOf(output)).toBe(`${all.length} of ${all.length} operations verified; 0 violation, 0 discovered, 0 learned`);
  // The report on the terminal ends before the last operations.
  const { coverage }: Pick<Report, 'coverage'> = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));
  const passed = coverage.filter(({ verdict }) => verdict === 'passed').map(({ operation }) => operation);
  expect(passed.toSorted()).toEqual(all.toSorted());
  expect(all.filter((id) => !specified.includes(id)).length).toBeGreaterThan(20);
  expect(code).toBe(0);
});

test('with --extension, reports each called operation that a service without the extension lacks', async () => {
  const { code, output } = await command(
    ['--target', (await start(false)).url.href, '--extension', '--only', 'listVms', 'getPricings', 'listDomains'],
    key,
  );
  expect(output).toMatch(/^ {2}listVms +GET \/vm\/list +.*404/m);
  expect(output).toContain('0 violation');
  expect(code).toBe(0);
});

/** The line of the report that counts operations and findings. */
function summaryOf(output: string): string | undefined {
  return /\d+ of \d+ operations verified.* learned/.exec(output)?.[0];
}

let key: Readonly<Record<string, string>> = {};

async function start(extension: boolean): Promise<Sandbox> {
  const sandbox = await startSandbox({ extension });
  onTestFinished(() => sandbox.close());
  key = { RESELLER_API_KEY: sandbox.apiKey };
  return sandbox;
}

async function idsIn(name: 'openapi' | 'service'): Promise<readonly string[]> {
  return readOperations(await loadDocument(name)).map(({ id }) => id);
}

async function runAgainst(sandbox: Sandbox, ids: readonly string[], ...more: readonly string[]): Promise<CommandResult> {
  const { url, operatorUrl, operatorToken, things } = sandbox;
  const [offer] =
    readOperations(await loadDocument('service')).find(({ id }) => id === 'purchaseDedicatedServer')?.parameters[0]?.examples ?? [];
  const identifiers: Readonly<Record<string, unknown>> = {
    deleteDedicatedServer: things.server,
    undeleteDedicatedServer: things.server,
    undeleteDomain: things.domain,
    // The run changes the nameservers of its own domain, which cannot have DNSSEC for 2 days after that.
    enableDomainDnssec: things.domain,
    purchaseDedicatedServer: offer,
    ...(ids.includes('quoteUndeleteDedicatedServer') && { quoteUndeleteDedicatedServer: await cancelledServer(sandbox) }),
    ...(ids.includes('rotateKey') && (await keysOf(sandbox))),
    ...(ids.includes('replayWebhookDelivery') && { replayWebhookDelivery: await testedWebhook(sandbox) }),
    ...(ids.includes('assignIp') && (await addressesOf(sandbox))),
    ...(ids.includes('submitVmAbuseStatement') && { submitVmAbuseStatement: await suspectedVm(sandbox) }),
  };
  const named = ids.map((id) => (identifiers[id] === undefined ? id : `${id}=${String(identifiers[id])}`));
  const argv = [
    '--target',
    url.href,
    '--operator',
    operatorUrl.href,
    '--mode',
    'full',
    '--budget',
    '1000',
    '--allow-unknown-price',
    '40',
    '--yes',
  ];
  return command([...argv, ...more, '--only', ...named], { ...key, RESELLER_OPERATOR_TOKEN: operatorToken });
}

/** A further server of the account, which is cancelled. */
async function cancelledServer({ url, operatorUrl, operatorToken, things }: Sandbox): Promise<string> {
  const client = createClient({ baseUrl: operatorUrl.href, token: operatorToken });
  const owned = (await listDedicatedServers({ client })).items;
  const account_id = String(owned.find((server) => server.id === things.server)?.account_id);
  const { items } = await listMarketItems({ client });
  const offer = items.find((item) => item.account_id === null);
  const { id } = await orderDedicatedServer({ client, body: { account_id, market_id: String(offer?.id) } });
  const management = { dashboard: 'https://ipmi.example', username: 'admin', email: 'ops@reseller.example', password: 'example-password' };
  const ipv4 = [{ address: '203.0.113.81', gateway: '203.0.113.1' }];
  await completeDedicatedSetup({ client, path: { server_id: id }, body: { management, ipv4 } });
  const headers = { 'x-service-apikey': key['RESELLER_API_KEY'] ?? '' };
  await fetch(new URL(`/dedicated/${id}/delete`, url), { method: 'DELETE', headers });
  return id;
}

/** A webhook that was tested, and its delivery. */
async function testedWebhook({ url }: Sandbox): Promise<string> {
  const headers = { 'x-service-apikey': key['RESELLER_API_KEY'] ?? '' };
  const body = new URLSearchParams({ url: 'https://panel.reseller-customer.invalid/' });
  const { webhook_id } = (await json(new URL('/account/webhooks/add', url), { method: 'PUT', headers, body })).data;
  const { delivery_id } = (await json(new URL(`/account/webhooks/${webhook_id}/test`, url), { method: 'POST', headers })).data;
  return `${webhook_id}/${delivery_id}`;
}

/** A VM about which the provider expects a statement. */
async function suspectedVm({ url, operatorUrl, operatorToken }: Sandbox): Promise<string> {
  const { data } = await json(new URL('/vm/create', url), {
    method: 'PUT',
    headers: { 'x-service-apikey': key['RESELLER_API_KEY'] ?? '' },
    body: new URLSearchParams({ cores: '1', mem: '1024', disk: '10', os: 'debian_12', hostsystem: 'nl_ryzen' }),
  });
  const client = createClient({ baseUrl: operatorUrl.href, token: operatorToken });
  const vm_id = String(data.identifier);
  await setVmAbuseStatus({ client, path: { vm_id }, body: { status: 'STATEMENT_EXPECTED', reason: 'Unwanted mail' } });
  return vm_id;
}

/** An additional address of a VM for each, which the run moves to its own VM in the data centre of the example, only quotes, and releases. */
async function addressesOf({ url }: Sandbox): Promise<Readonly<Record<'assignIp' | 'quoteAssignIp' | 'releaseIp', string>>> {
  const buy = async (): Promise<string> => {
    const { data } = await json(new URL('/vm/create', url), {
      method: 'PUT',
      headers: { 'x-service-apikey': key['RESELLER_API_KEY'] ?? '' },
      body: new URLSearchParams({ cores: '1', mem: '1024', disk: '10', os: 'debian_12', hostsystem: 'nl_ryzen', ips: '2' }),
    });
    return data.config.ipv4[1].address;
  };
  return { assignIp: await buy(), quoteAssignIp: await buy(), releaseIp: await buy() };
}

/** Two further keys of the account: one to rotate, and one to revoke. */
async function keysOf({ url, operatorUrl, operatorToken }: Sandbox): Promise<Readonly<Record<'rotateKey' | 'revokeKey', string>>> {
  const operator = (path: string, body?: object) =>
    json(new URL(path, operatorUrl), {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const { data } = await json(new URL('/account/keys', url), { headers: { 'x-service-apikey': key['RESELLER_API_KEY'] ?? '' } });
  const own = data.list.find(({ current }: { current: boolean }) => current).key_id;
  for (const { id } of (await operator('/accounts')).items) {
    const path = `/accounts/${id}/api-keys`;
    if (!(await operator(path)).items.some((one: { id: string }) => one.id === own)) continue;
    const issue = async () => (await operator(path, { label: 'contract tests' })).id;
    return { rotateKey: await issue(), revokeKey: await issue() };
  }
  throw new Error('No account has the key of the run.');
}

// oxlint-disable-next-line typescript/no-explicit-any -- the caller knows the shape that it asks for
async function json(url: URL, init: RequestInit): Promise<any> {
  return (await fetch(url, init)).json();
}

test('a run in the folder of a sandbox takes the document of the sandbox, and discovers nothing', async () => {
  const { url, apiKey } = await start(true);
  const folder = mkdtempSync(join(tmpdir(), 'own-sandbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'demo-api-key'), apiKey, { mode: 0o600 });
  const { code, output } = await command(['--target', url.href], { RESELLER_DATA_DIR: folder });
  expect(summaryOf(output)).toMatch(/ of 102 operations verified; 0 violation, 0 discovered, 0 learned$/);
  expect(output).toContain(`It is the document of the service, ${url.href}openapi.json.`);
  expect(code).toBe(0);
});

test('the numbers of the summary are those of the lists below it', async () => {
  const { url } = await start(true);
  const { output } = await command(['--target', url.href], key);
  const [, verified, unverified, parts] =
    /(\d+) of 102 operations.*; unverified: (\d+) operations and (\d+) other parts$/m.exec(output) ?? [];
  expect(output.match(/^ {2}\w+ +[A-Z]+ \/.* passed$/gm)).toHaveLength(Number(verified));
  expect(Number(verified) + Number(unverified)).toBe(102);
  const [, listed = ''] = /^Unverified operations .*\n((?: {2}.*\n)+)/m.exec(output) ?? [];
  expect(listed.match(/^ {4}.*$/gm)?.flatMap((line) => line.match(/\w+/g))).toHaveLength(Number(unverified));
  expect(output).toContain(`Unverified operations (${unverified})`);
  expect(output).toContain(`Other unverified parts (${parts})`);
  expect(output.match(/unverified/gi)).toHaveLength(3);
});

test('a run against a service of the reseller API takes the document of the service, also with a key', async () => {
  const { url } = await start(true);
  const { code, output } = await command(['--target', url.href], key);
  expect(summaryOf(output)).toMatch(/ of 102 operations verified; 0 violation, 0 discovered, 0 learned$/);
  expect(output).toContain(`It is the document of the service, ${url.href}openapi.json.`);
  expect(code).toBe(0);
});

test.each([
  ['of another API', (document: OpenApiDocument) => ({ ...document, info: { title: 'Another API', version: '1' } })],
  ['without an operation of the specification', (document: OpenApiDocument) => ({ ...document, paths: {} })],
])('the specification judges a service whose own document is one %s', async (_, changed) => {
  const served = changed(await loadDocument());
  const server = await startServer(({ path }, response) => sendJson(response, path === '/openapi.json' ? 200 : 500, served));
  const { output } = await command(['--target', server.url.href], { RESELLER_API_KEY: 'any-key' });
  expect(output).not.toContain('It is the document of the service');
  expect(summaryOf(output)).toMatch(/ of 25 operations verified; /);
});
