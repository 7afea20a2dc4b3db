/** Links to the consoles of VMs, and their sessions over a WebSocket. */
import { once } from 'node:events';

import * as operator from '@reseller/operator-client';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import { engines } from '../../../test/engines.ts';
import { SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { newInstances } from '../../../test/instances.ts';
import { startOperator } from '../../../test/operator.ts';
import { TestHypervisor } from '../../../test/ports/hypervisor.ts';
import { Standstill } from '../../../test/ports/standstill.ts';
import { exchange, requestText } from '../../../test/raw-http.ts';
import { suspendAccount } from '../../core/account/suspension.ts';

const UNUSABLE = 'This link was used, has expired, or is no longer allowed. Get a new one with POST /vm/{vmid}/console.';

interface Link {
  readonly console_url: string;
  readonly expires_at: string;
}

async function buyVm(service: TestService): Promise<string> {
  return String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
}

async function linkOf(service: TestService, vmid: string): Promise<Link> {
  const { status, body } = await service.call('openVmConsole', { path: { vmid } });
  expect(status).toBe(200);
  return body.data;
}

/** A browser that opens the page of a link. */
function browse(
  { console_url }: Pick<Link, 'console_url'>,
  { origin = new URL(console_url).origin, headers = {} }: { readonly origin?: string; readonly headers?: Record<string, string> } = {},
): WebSocket {
  const { hash } = new URL(console_url);
  const address = new URL('session', console_url);
  address.protocol = 'ws';
  address.hash = '';
  const socket = new WebSocket(address, ['binary', hash.slice(1)], { origin, headers });
  onTestFinished(() => socket.terminate());
  return socket;
}

/** @returns The first bytes of the screen. */
async function greeted(socket: WebSocket): Promise<string> {
  const [data] = await Promise.race([
    once(socket, 'message'),
    once(socket, 'close').then(([code, reason]) => Promise.reject(new Error(`closed: ${code} ${reason}`))),
  ]);
  return String(data);
}

async function closed(socket: WebSocket): Promise<string> {
  const [code, reason] = await once(socket, 'close');
  return `${code} ${reason}`;
}

/** @returns The HTTP status of an upgrade that is refused. */
async function refused(socket: WebSocket): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  socket.once('unexpected-response', (_request, response) => resolve(response.resume().statusCode));
  socket.once('open', () => reject(new Error('The console was opened.')));
  // Its end at the end of the test.
  socket.on('error', () => {});
  return promise;
}

/**
 * Open consoles are checked only when time is advanced. Checks every few milliseconds would end sessions whose browser responds late, as on a
 * busy machine.
 */
function holdChecks(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

const sessionsIn = (service: TestService) => service.store.read((db) => db.selectFrom('vm_consoles').selectAll().execute());

test.each([
  [1_000, 61_000, 'within 1 second.', 61],
  [60_000, 1_800_000, 'within 60 seconds.', 1_800],
])('a link of %i ms and a session of %i ms are described in seconds', async (linkMs, sessionMs, within, seconds) => {
  const service = await startService({ consoleLimits: { linkMs, sessionMs } });
  const path = { vmid: await buyVm(service) };
  const { message, data } = (await service.call('openVmConsole', { path })).body;
  expect(message).toBe(`The console can be opened once, ${within}`);
  expect([Date.parse(data.expires_at) - service.clock.now(), data.session_seconds]).toEqual([linkMs, seconds]);
});

describe.each(engines)('on %s', (engine) => {
  test('a link opens one session, which shows the screen and takes keys', async () => {
    const service = await startService({ engine });
    const vmid = await buyVm(service);
    const link = await linkOf(service, vmid);
    expect(link.console_url).toMatch(new RegExp(`^${service.baseUrl}/vm-console/#rsw_[A-Za-z0-9]{50}$`));
    expect(Date.parse(link.expires_at) - service.clock.now()).toBe(60_000);
    const socket = browse(link);
    expect(await greeted(socket)).toBe('RFB 003.008\n');
    expect(socket.protocol).toBe('binary');
    socket.send('RFB 003.008\n');
    expect([...Buffer.from((await once(socket, 'message'))[0])]).toEqual([1, 1]);
    expect(await refused(browse(link))).toBe(401);
    socket.close();
    await once(socket, 'close');
    await expect.poll(() => sessionsIn(service)).toEqual([]);
    await expect.poll(() => service.hypervisor.consoles.get(Number(vmid))?.map(({ destroyed }) => destroyed)).toEqual([true]);
  });

  test('a link expires to the millisecond, and after it nothing is left in the store', async () => {
    const service = await startService({ engine });
    const vmid = await buyVm(service);
    const [early, late] = [await linkOf(service, vmid), await linkOf(service, vmid)];
    service.clock.advance(59_999);
    expect(await greeted(browse(early))).toBe('RFB 003.008\n');
    service.clock.advance(1);
    expect(await refused(browse(late))).toBe(401);
    for (const secret of ['rsw_unknown', '']) {
      const url = `${service.baseUrl}/vm-console/#${secret || 'x'}`;
      expect(await refused(browse({ console_url: url }))).toBe(401);
    }
  });

  test.each([
    'deleted',
    'given to another account',
    'stopped by the provider',
    'suspended',
    'revoked',
    'limited to networks',
    'over',
  ] as const)('a link does not open, and a session ends, when its VM, account, key or time is %s', async (what) => {
    holdChecks();
    const service = await startOperator({ engine, consoleLimits: { checkMs: 5_000 } });
    const vmid = await buyVm(service);
    const session = browse(await linkOf(service, vmid));
    await greeted(session);
    const link = await linkOf(service, vmid);
    const ended = closed(session);
    const { store, clock, vms, client } = service;
    const end = {
      deleted: () => vms.remove(Number(vmid)),
      'given to another account': async () => {
        const { id } = await service.account();
        await store.commit(({ db }) => db.updateTable('vms').set({ account_id: id }).where('id', '=', Number(vmid)).execute());
      },
      'stopped by the provider': () => vms.stop(Number(vmid)),
      suspended: () =>
        store.commit(async ({ db }) => {
          const { account_id } = await db.selectFrom('vms').select('account_id').executeTakeFirstOrThrow();
          await suspendAccount(db, account_id, { reason: 'abuse', now: clock.now() });
        }),
      revoked: () => store.commit(({ db }) => db.updateTable('api_keys').set({ revoked: clock.now() }).execute()),
      'limited to networks': async () => {
        const { id } = await store.read((db) => db.selectFrom('api_keys').select('id').executeTakeFirstOrThrow());
        const body = { valid_until: null, allowed_networks: ['203.0.113.0/24'], spending_limit: null };
        await operator.setApiKeyRestrictions({ client, path: { api_key_id: id }, body });
      },
      over: async () => clock.advance(3_600_000),
    }[what];
    await end();
    vi.advanceTimersByTime(5_000);
    expect(await ended).toMatch(/^(?:4003 The time is over, or the console is no longer allowed\.|4000 The VM was stopped)/);
    const unused = browse(link);
    if (what === 'over' || what === 'limited to networks') expect(await refused(unused)).toBe(401);
    else expect(await closed(unused)).toBe(`4003 ${UNUSABLE}`);
  });

  test('a session says that its VM was stopped also while the machine still stops', async () => {
    holdChecks();
    const still = new Standstill();
    const service = await startService({ engine, consoleLimits: { checkMs: 5_000 }, hypervisor: still.around(new TestHypervisor()) });
    const vmid = await buyVm(service);
    const session = browse(await linkOf(service, vmid));
    await greeted(session);
    const ended = closed(session);
    still.holds = 'before';
    const stopped = service.call('setVmPower', { path: { vmid }, form: { mode: 'stop' } });
    await expect.poll(() => still.held).toEqual(['stop']);
    vi.advanceTimersByTime(5_000);
    expect(await ended).toBe('4000 The VM was stopped or restarted. Get a new link.');
    still.release();
    expect((await stopped).status).toBe(200);
  });

  test('a session that nobody uses ends; a key counts as use, and a picture that the browser asks for does not', async () => {
    holdChecks();
    const service = await startService({ engine, consoleLimits: { checkMs: 500, idleMs: 700 } });
    const vmid = await buyVm(service);
    const [used, unused] = [browse(await linkOf(service, vmid)), browse(await linkOf(service, vmid))];
    const [usedEnd, unusedEnd] = [closed(used), closed(unused)];
    await Promise.all([greeted(used), greeted(unused)]);
    vi.advanceTimersByTime(500);
    used.send(Buffer.from([4, 1, 0, 0, 0, 0, 0, 65]));
    unused.send(Buffer.from([3, 1, 0, 0, 0, 0, 0, 9, 0, 9]));
    for (const socket of [used, unused]) {
      // The service responds to it after the message before.
      socket.ping();
      await once(socket, 'pong');
    }
    vi.advanceTimersByTime(500);
    expect(await unusedEnd).toBe('4000 Nobody used the console. Get a new link.');
    expect(used.readyState).toBe(WebSocket.OPEN);
    vi.advanceTimersByTime(500);
    expect(await usedEnd).toBe('4000 Nobody used the console. Get a new link.');
  });

  test('as many sessions as the limits of a VM and of an account are open at once, and a refused link stays usable', async () => {
    const service = await startService({ engine, consoleLimits: { maxOfVm: 1, maxOfAccount: 2 } });
    const vms = [await buyVm(service), await buyVm(service), await buyVm(service)];
    const sessions = [];
    for (const vmid of vms.slice(0, 2)) {
      const session = browse(await linkOf(service, vmid));
      await greeted(session);
      sessions.push(session);
    }
    const tooMany = '4003 Too many consoles are open. Close one, and get a new link.';
    const again = await linkOf(service, String(vms[0]));
    expect(await closed(browse(again))).toBe(tooMany);
    const third = await linkOf(service, String(vms[2]));
    expect(await closed(browse(third))).toBe(tooMany);
    sessions[0]?.close();
    await expect.poll(async () => (await sessionsIn(service)).filter(({ ends }) => ends !== null).length).toBe(1);
    expect(await greeted(browse(third))).toBe('RFB 003.008\n');
  });

  test('refuses a stopped VM, a page of another origin, and a VM of another account', async () => {
    const service = await startService({ engine });
    const vmid = await buyVm(service);
    const { apiKey } = await service.account();
    expect((await service.call('openVmConsole', { path: { vmid }, apiKey })).status).toBe(404);
    const link = await linkOf(service, vmid);
    for (const origin of ['http://evil.example', 'null']) {
      const socket = browse(link, { origin });
      const [error] = await once(socket, 'error');
      expect(error.message).toBe('Unexpected server response: 403');
    }
    expect(await greeted(browse(link))).toBe('RFB 003.008\n');
    await service.call('setVmPower', { path: { vmid }, form: { mode: 'stop' } });
    const { status, body } = await service.call('openVmConsole', { path: { vmid } });
    expect([status, body.message]).toEqual([409, `The VM ${vmid} is stopped. Only a running VM has a console. Start it first.`]);
  });

  test('a stop of the service ends sessions with their reason, and does not wait for browsers that do not answer', async () => {
    const service = await startService({ engine });
    const vmid = await buyVm(service);
    const answering = browse(await linkOf(service, vmid));
    await greeted(answering);
    const silent = browse(await linkOf(service, vmid));
    await greeted(silent);
    silent.pause();
    const ended = closed(answering);
    await service.close();
    expect(await ended).toBe('1001 The service restarts. Get a new link.');
  });

  test('the secret of a link is in no log, and only its hash in the store', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    const service = await startService({ engine, logger });
    const vmid = await buyVm(service);
    const link = await linkOf(service, vmid);
    const secret = new URL(link.console_url).hash.slice(1);
    await greeted(browse(link));
    await refused(browse(link));
    const log = await service.call('listRequests');
    const stored = await sessionsIn(service);
    expect(stored).toMatchObject([{ hash: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    for (const text of [lines.join(''), JSON.stringify(log.body), JSON.stringify(stored)]) expect(text).not.toContain(secret.slice(4));
    expect(JSON.stringify(log.body)).toContain('/console');
  });

  test('a hypervisor without a console is named', async () => {
    const service = await startService({ engine });
    const vmid = await buyVm(service);
    Object.defineProperty(service.hypervisor, 'console', { value: undefined });
    const { status, body } = await service.call('openVmConsole', { path: { vmid } });
    expect([status, body.message]).toEqual([501, 'The hypervisor of this service has no console. Use SSH, or ask the provider.']);
  });

  test('a fast machine waits for a slow browser', async () => {
    const service = await startService({ engine });
    const vmid = await buyVm(service);
    const socket = browse(await linkOf(service, vmid));
    await greeted(socket);
    socket.pause();
    const [screen] = service.hypervisor.consoles.get(Number(vmid)) ?? [];
    if (!screen) throw new Error('There is no screen.');
    const chunk = Buffer.alloc(1024 * 1024);
    // A screen that sends as long as it is read. The operating system takes a few megabytes.
    let sent = 0;
    while (screen.push(chunk) && sent < 200) {
      sent++;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(sent).toBeLessThan(100);
    socket.resume();
    await once(socket, 'message');
  });
});

test('sockets without a link take no place of a session, and the provider sees how many came from where', async () => {
  const service = await startOperator({ trustedProxies: ['127.0.0.1'] });
  const link = await linkOf(service, await buyVm(service));
  const url = `${service.baseUrl}/vm-console/#rsw_unknown`;
  const statuses = await Promise.all(Array.from({ length: 20 }, () => refused(browse({ console_url: url }))));
  expect(new Set(statuses)).toEqual(new Set([401]));
  expect(await refused(browse({ console_url: url }, { headers: { 'x-forwarded-for': '198.51.100.7, 192.0.2.9' } }))).toBe(401);
  expect(await greeted(browse(link))).toBe('RFB 003.008\n');
  await service.runScheduledJobs();
  const { items } = await operator.listFailedAuthentications({ client: service.client });
  expect(items.map(({ api, network, count }) => [api, network, count]).toSorted()).toEqual([
    ['reseller', '127.0.0.1', 20],
    ['reseller', '192.0.2.9', 1],
  ]);
});

test.each([
  '../../package.json',
  '%2e%2e/%2e%2e/package.json',
  '..%5c..%5cpackage.json',
  'core%00.js',
  '/etc/passwd',
  'core/none.js',
  'core/',
])('there is no file /vm-console/novnc/%s', async (path) => {
  const service = await startService();
  const { status } = await exchange(service.baseUrl, requestText(`GET /vm-console/novnc/${path} HTTP/1.1`, ['Host: 127.0.0.1']));
  expect(status).toBe(404);
});

test('any instance opens the link of another one', { tags: 'outer' }, async () => {
  const { start, apiKey } = await newInstances();
  const [one, other] = [await start(), await start()];
  await other.service.app.listen({ host: '127.0.0.1', port: 0 });
  const { body } = await one.call('createVm', { form: SMALL_VM, apiKey });
  const opened = await one.call('openVmConsole', { path: { vmid: String(body.data.identifier) }, apiKey });
  const { hash, origin } = new URL(opened.body.data.console_url);
  expect(await greeted(browse({ console_url: `${other.service.app.listeningOrigin}/vm-console/${hash}` }, { origin }))).toBe(
    'RFB 003.008\n',
  );
});

test('the page loads nothing from elsewhere, may not be framed, and serves only the files of its client', async () => {
  const service = await startService();
  const page = await fetch(`${service.baseUrl}/vm-console/`);
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(page.headers.get('x-frame-options')).toBe('DENY');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe');
  const statusOf = async (path: string) => (await fetch(`${service.baseUrl}/vm-console/${path}`)).status;
  expect(await Promise.all(['page.js', 'page.css', 'novnc/core/rfb.js', 'novnc/LICENSE.txt'].map(statusOf))).toEqual([200, 200, 200, 200]);
  for (const path of ['novnc/package.json', 'novnc/', 'novnc/..%2f..%2fpackage.json', 'novnc/core', 'other', 'session'])
    expect([path, await statusOf(path)]).toEqual([path, 404]);
  const upgrade = await fetch(`${service.baseUrl}/vm/list`, { headers: { 'x-service-apikey': service.apiKey } });
  expect(upgrade.status).toBe(200);
});

test('a service without the extension has no console', async () => {
  const service = await startService({ extension: false });
  expect((await fetch(`${service.baseUrl}/vm-console/`)).status).toBe(404);
  const socket = new WebSocket(`${service.baseUrl.replace('http', 'ws')}/vm-console/session`, ['binary', 'rsw_x'], {
    origin: service.baseUrl,
  });
  const [error] = await once(socket, 'error');
  expect(error.message).toBe('Unexpected server response: 404');
});
