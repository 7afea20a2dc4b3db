/** The process with real VMs: bought by HTTP, seen from inside the guest, and counted after crashes. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import {
  advanceClock,
  createClient,
  getReconciliation,
  getVmAccess,
  getVmTraffic,
  getVmUsage,
  listVms,
  resetSandbox,
} from '@reseller/operator-client';
import { describe, expect, onTestFinished, test } from 'vitest';

import { amountOf } from '../../../.config/depth.ts';
import { factsOf, leftOut, linkTestImages, logsIn, processesOf } from '../../../packages/adapters/test/qemu.ts';
import { runServer, SAMPLE_VM, startServer, temporaryDirectory } from './process.ts';
import type { Server } from './process.ts';

const TOKEN = 'operator-token-of-a-real-sandbox-01234';
const ORDER = { cores: '1', mem: '1024', disk: '10', os: 'debian_12', hostsystem: 'nl_ryzen', hostname: 'real-machine' };
/** A creation takes about 0.3 s. */
const LATEST_KILL_MS = 450;

/** A sandbox whose VMs end with the test. */
async function realSandbox() {
  const [data, images] = [temporaryDirectory(), join(temporaryDirectory(), 'images')];
  await linkTestImages(images, 'debian_12');
  const folder = join(data, 'adapters/qemu');
  const serviceIds = new Set<string>();
  /** The VMs that exist, and their processes. */
  function machines() {
    const names = existsSync(folder) ? readdirSync(folder) : [];
    for (const name of names.filter((one) => one.startsWith('vm-')))
      serviceIds.add(JSON.parse(readFileSync(join(folder, name, 'vm.json'), 'utf8')).service);
    return { names: names.toSorted(), processes: [...serviceIds].flatMap((id) => processesOf(id)).length };
  }
  /** The processes of QEMU. */
  function machinePids() {
    machines();
    return [...serviceIds].flatMap((id) => processesOf(id));
  }
  /** Kills all machines, as the end of their host does. */
  function endMachines(): readonly number[] {
    const pids = machinePids();
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    return pids;
  }
  onTestFinished(({ task }) => {
    endMachines();
    if (task.result?.state !== 'fail') return;
    for (const log of globSync('*/qemu.log', { cwd: folder }))
      process.stderr.write(`${log}:\n${readFileSync(join(folder, log), 'utf8')}\n`);
  });
  const start = () =>
    startServer({ RESELLER_DATA_DIR: data, RESELLER_OPERATOR_TOKEN: TOKEN, RESELLER_HYPERVISOR: 'qemu', RESELLER_QEMU_IMAGES: images });
  return { start, machines, machinePids, endMachines, folder };
}

async function call({ baseUrl, apiKey }: Server, method: string, path: string, form: Readonly<Record<string, string>> = {}) {
  const init = { method, headers: { 'X-SERVICE-APIKEY': apiKey }, ...(method === 'PUT' && { body: new URLSearchParams(form) }) };
  const response = await fetch(`${baseUrl}${path}`, init);
  const answer: { status: string; data: { identifier: number; status: string; config: { password: string } } } = JSON.parse(
    await response.text(),
  );
  return answer;
}

async function statesOf(server: Server, vmIds: readonly number[]): Promise<string[]> {
  return Promise.all(vmIds.map(async (vmId) => (await call(server, 'GET', `/vm/${vmId}/status`)).data.status));
}

/** The states of the processes of QEMU that a process has started, such as S for sleeping and Z for ended. */
function statesOfChildren(parent: number | undefined): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const [, name, state, ppid] = /^\d+ \((.*)\) (\S) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
      return name?.startsWith('qemu-system') && Number(ppid) === parent && state ? [state] : [];
    } catch {
      return [];
    }
  });
}

/** The VMs that the store bills, without the sample, which exists only there. */
async function billed({ operatorUrl }: Server): Promise<string[]> {
  const client = createClient({ baseUrl: operatorUrl, token: TOKEN });
  const { items } = await listVms({ client, query: { state: 'running' } });
  return items.flatMap(({ id }) => (Number(id) === SAMPLE_VM ? [] : `vm-${id}`)).toSorted();
}

describe.skipIf(leftOut !== undefined)('a sandbox that sells VMs of QEMU', () => {
  // Deep, because a service that runs looks for ended machines every half minute.
  test(
    'two VMs outlive a restart as the unit asks for it, and run again by themselves after their machines or their host ended',
    { tags: 'deep' },
    async () => {
      const unit = readFileSync(join(import.meta.dirname, '../deploy/reseller.service'), 'utf8');
      expect(unit).toMatch(/^KillMode=process$/m);
      const { start, machinePids, endMachines } = await realSandbox();
      const first = await start();
      const vmIds: number[] = [];
      for (const hostname of ['one', 'other']) vmIds.push((await call(first, 'PUT', '/vm/create', { ...ORDER, hostname })).data.identifier);
      const bought = machinePids().toSorted();
      expect(bought).toHaveLength(2);
      // systemd ends only the process of the service.
      await first.end('SIGTERM');
      const second = await start();
      expect(machinePids().toSorted()).toEqual(bought);
      async function expectOthers(ended: readonly number[], what: string): Promise<void> {
        const begun = performance.now();
        await expect.poll(() => machinePids().filter((pid) => !ended.includes(pid)).length, { timeout: 600_000, interval: 200 }).toBe(2);
        process.stderr.write(`${what}: both run again after ${((performance.now() - begun) / 1000).toFixed(1)} s\n`);
      }
      await expectOthers(endMachines(), 'machines killed next to the service');
      // A service that is killed while it starts a machine takes that back, and tries again two minutes later.
      await expect.poll(() => statesOf(second, vmIds), { interval: 200 }).toEqual(['running', 'running']);
      await second.end('SIGKILL');
      const ended = endMachines();
      await start();
      await expectOthers(ended, 'host ended, from the service being ready');
    },
  );

  test('a VM that is bought by HTTP answers on the printed port, accepts its password, outlives the service, and leaves nothing', async () => {
    const { start, machines, folder } = await realSandbox();
    const first = await start();
    expect(first.welcome).toMatch(/VMs +machines of QEMU on this computer\n/);
    let printed = '';
    first.process.stdout?.on('data', (chunk) => (printed += String(chunk)));
    const { data } = await call(first, 'PUT', '/vm/create', ORDER);
    const { identifier: vmId, config } = data;
    await expect.poll(() => printed).toMatch(/port 80 is http/);
    const port = Number(new RegExp(`^VM ${vmId} boots\\. Its port 80 is http://127\\.0\\.0\\.1:(\\d+)/$`, 'm').exec(printed)?.[1]);
    expect(await factsOf(port)).toMatchObject({ hostname: 'real-machine', cores: 1, disk_bytes: 10 * 1024 ** 3, user: 'root' });
    const operator = createClient({ baseUrl: first.operatorUrl, token: TOKEN });
    const { forwarded_ports } = await getVmAccess({ client: operator, path: { vm_id: String(vmId) } });
    expect(forwarded_ports).toContainEqual({ port: 80, address: `127.0.0.1:${port}` });
    // The nodes and the sample VM of a sandbox are invented.
    const { compared, findings } = await getReconciliation({ client: operator });
    expect(compared).toBe(true);
    expect(findings.filter(({ kind }) => kind.startsWith('node_') || kind.startsWith('vm_'))).toEqual([]);
    expect(await logsIn(join(folder, `vm-${vmId}`), { username: 'root', password: config.password })).toBe(true);
    await advanceClock({ client: operator, body: { by_seconds: 300 } });
    const measured = { client: operator, path: { vm_id: String(vmId) } };
    const newest = (await getVmUsage(measured)).samples.at(-1);
    expect(newest?.mem).toBeGreaterThan(20 * 1024 ** 2);
    expect(newest?.cpu).toBeGreaterThan(0);
    // The guest has sent its page at least once.
    expect((await getVmTraffic(measured)).months.at(-1)?.sent).toBeGreaterThan(300);
    await first.end('SIGKILL');

    const second = await start();
    expect(second.welcome).toContain(`, 1 running: ${vmId} http://127.0.0.1:${port}/`);
    expect(await factsOf(port)).toMatchObject({ boots: 1 });
    expect(await call(second, 'DELETE', `/vm/${vmId}/delete`)).toMatchObject({ status: 'success' });
    expect(machines()).toEqual({ names: [], processes: 0 });
  });

  test(
    'a VM that was deleted leaves no process, not even one that has ended and still has its number, and a reset removes the rest',
    { tags: 'deep' },
    async () => {
      const { start, machines, folder } = await realSandbox();
      const server = await start();
      const children = () => statesOfChildren(server.process.pid);
      const { identifier } = (await call(server, 'PUT', '/vm/create', ORDER)).data;
      expect(children()).toHaveLength(1);
      await call(server, 'DELETE', `/vm/${identifier}/delete`);
      await expect.poll(children).toEqual([]);
      for (let count = 0; count < 2; count++) await call(server, 'PUT', '/vm/create', ORDER);
      expect(machines().processes).toBe(2);
      await resetSandbox({ client: createClient({ baseUrl: server.operatorUrl, token: TOKEN }) });
      expect([machines(), readdirSync(folder)]).toEqual([{ names: [], processes: 0 }, []]);
      await expect.poll(children).toEqual([]);
    },
  );

  const rounds = amountOf('REAL_KILLS', { usual: 1, deep: 20 });
  test(`${rounds} times a service is killed during a purchase: afterwards, exactly the VMs that it bills exist`, async () => {
    const { start, machines } = await realSandbox();
    const counts: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const server = await start();
      const purchase = call(server, 'PUT', '/vm/create', ORDER).catch(() => undefined);
      await wait((LATEST_KILL_MS * (round + 0.5)) / rounds);
      await server.end('SIGKILL');
      await purchase;
      const next = await start();
      const vms = await billed(next);
      await expect.poll(machines).toEqual({ names: vms, processes: vms.length });
      counts.push(vms.length);
      for (const vm of vms) await call(next, 'DELETE', `/vm/${vm.slice(3)}/delete`);
      expect(machines()).toEqual({ names: [], processes: 0 });
      await next.end('SIGKILL');
    }
    expect(counts).toHaveLength(rounds);
  });
});

test('without QEMU, a start with real VMs says in one line how to install it', async () => {
  const environment = { RESELLER_DATA_DIR: temporaryDirectory(), RESELLER_HYPERVISOR: 'qemu', PATH: '/nowhere' };
  const { code, stderr } = await runServer(environment);
  expect({ code, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 1, lines: 1 });
  expect(stderr).toMatch(
    /^QEMU (?:cannot run VMs here, because packages are missing\. .* apt-get install .*qemu-system-x86|.* needs Linux)/,
  );
});
