/** The adapter against the real QEMU, as far as it is installed: from the outside, and from inside the guest. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { describe, expect, onTestFinished, test } from 'vitest';

import { amountOf, isDeep } from '../../../../.config/depth.ts';
import {
  discard,
  factsOf,
  leftOut,
  linkTestImages,
  logsIn,
  makesIsos,
  ORDER,
  outputIn,
  processesOf,
  testImages,
  vmFolder,
} from '../../test/qemu.ts';
import { hypervisorConformance } from '../conformance/hypervisor.ts';
import type { HypervisorSystem } from '../conformance/hypervisor.ts';
import { memoryFence } from '../fencing.ts';
import { qemuHypervisor } from './hypervisor.ts';
import type { QemuHypervisor, QemuOptions } from './hypervisor.ts';

if (leftOut !== undefined) process.stderr.write(`Left out: the tests of the QEMU adapter, because ${leftOut}.\n`);
else if (!makesIsos)
  process.stderr.write('Left out: the test of ISO files, because isolinux is missing. .config/install-infrastructure installs it.\n');

/** How long the CPU time of idle VMs is measured. */
const IDLE_MS = 10_000;

const SECOND_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO47d1geLUqMp1vmpv1MYnTpDm2tivychbSs3lZ4ZERH second';

let services = 0;

/** Another identifier for each test, so that they can run side by side. */
function newServiceId(): string {
  services += 1;
  return `test${process.pid}x${services}`;
}

async function open(directory: string, given: Pick<QemuOptions, 'serviceId' | 'fence' | 'taskAfterMs'>): Promise<QemuHypervisor> {
  // The guests of most tests are still booting when they are stopped, so waiting for a clean shutdown would only cost time.
  return qemuHypervisor({ ...given, directory, images: await testImages(), shutdownMs: 200, agentMs: 200, accelerator: 'tcg' });
}

describe.skipIf(leftOut !== undefined)('a VM of QEMU', () => {
  test(
    'has its cores, memory, disk, hostname, user, key and password inside, and leaves no process and no file',
    { tags: 'deep' },
    async () => {
      const [directory, serviceId] = [vmFolder(), newServiceId()];
      onTestFinished(() => discard(directory, serviceId));
      const hypervisor = qemuHypervisor({ serviceId, fence: memoryFence(), directory, images: await testImages(), accelerator: 'tcg' });
      const { vmId } = ORDER;
      await hypervisor.create({ ...ORDER, cores: 2, username: 'admin' }, 1);
      const [vm] = await hypervisor.list();
      const facts = await factsOf(vm?.ports['80']);
      expect(facts).toMatchObject({
        hostname: 'my-machine',
        cores: 2,
        disk_bytes: 10 * 1024 ** 3,
        user: 'admin',
        authorized_key: ORDER.sshKey,
      });
      expect(facts.memory_mib).toBeGreaterThan(130);
      expect(facts.memory_mib).toBeLessThan(192);

      const folder = join(directory, `vm-${vmId}`);
      expect(await logsIn(folder, { username: 'admin', password: ORDER.password })).toBe(true);
      await hypervisor.setLogin(vmId, { password: 'Second-Password-2', sshKey: SECOND_KEY }, 2);
      expect(await logsIn(folder, { username: 'admin', password: 'Second-Password-2' })).toBe(true);
      expect((await factsOf(vm?.ports['80'])).authorized_key).toBe(SECOND_KEY);
      expect(readFileSync(join(folder, 'vm.json'), 'utf8')).not.toContain('Password');
      const [usage] = await usageIn(hypervisor, vmId);
      expect(usage?.cpuSeconds).toBeGreaterThan(0.5);
      expect(usage?.seconds).toBeLessThan(600);
      // The guest has 192 MB. Its kernel and its programs take more than 20 MB.
      expect(usage?.memory).toBeGreaterThan(20 * 1024 ** 2);
      expect(usage?.disk).toBeGreaterThan(100_000);
      expect(usage?.diskRead).toBeGreaterThan(100_000);
      expect(usage?.received).toBeGreaterThan(0);
      // The page of the facts is about 300 bytes.
      for (let request = 0; request < 20; request++) await factsOf(vm?.ports['80']);
      const [after] = await usageIn(hypervisor, vmId);
      expect(after?.run).toBe(usage?.run);
      expect((after?.sent ?? 0) - (usage?.sent ?? 0)).toBeGreaterThan(20 * 300);

      await hypervisor.remove(vmId, 3);
      expect({ processes: processesOf(serviceId), files: readdirSync(directory) }).toEqual({ processes: [], files: [] });
    },
  );

  test(
    'keeps its disk and its port over a resize, gets a new disk from a reinstallation, and goes back to a snapshot',
    { tags: 'deep' },
    async () => {
      const [directory, serviceId] = [vmFolder(), newServiceId()];
      onTestFinished(() => discard(directory, serviceId));
      const hypervisor = qemuHypervisor({ serviceId, fence: memoryFence(), directory, images: await testImages() });
      const { vmId } = ORDER;
      await hypervisor.create(ORDER, 1);
      const port = (await hypervisor.list())[0]?.ports['80'];
      await factsOf(port);
      await hypervisor.resize({ ...ORDER, cores: 2, mem: 320, disk: 20 }, 2);
      const grown = await factsOf(port, ({ boots }) => boots === 2);
      expect(grown).toMatchObject({ cores: 2, disk_bytes: 20 * 1024 ** 3, instance: '48213-1' });
      expect(grown.memory_mib).toBeGreaterThan(250);

      await hypervisor.snapshot(vmId, 'before');
      await hypervisor.setLogin(vmId, { password: 'Second-Password-2', sshKey: null }, 3);
      await hypervisor.restore(vmId, 'before');
      const login = { username: 'root', password: ORDER.password };
      expect(await logsIn(join(directory, `vm-${vmId}`), login)).toBe(true);

      const sshKey = SECOND_KEY;
      await hypervisor.reinstall({ ...ORDER, hostname: 'second-name', sshKey, userData: '#!/bin/sh\necho ready > /root/note\n' }, 4);
      const anew = await factsOf(port, ({ instance }) => instance === '48213-2');
      expect(anew).toMatchObject({ boots: 1, cores: 2, hostname: 'second-name', authorized_key: sshKey, disk_bytes: 20 * 1024 ** 3 });
      const second = { ...login, password: 'Second-Password-2' };
      expect(await outputIn(join(directory, `vm-${vmId}`), second, 'cat /root/note')).toBe('ready');
      await hypervisor.remove(vmId, 5);
    },
  );

  test(
    'has the files and the password of a backup after it was restored, also over a resize and a reinstallation',
    { tags: 'deep' },
    async () => {
      const [directory, serviceId] = [vmFolder(), newServiceId()];
      onTestFinished(() => discard(directory, serviceId));
      const hypervisor = qemuHypervisor({ serviceId, fence: memoryFence(), directory, images: await testImages(), accelerator: 'tcg' });
      const { backups = expect.fail('The adapter makes no backups.') } = hypervisor;
      const { vmId } = ORDER;
      const folder = join(directory, `vm-${vmId}`);
      const login = { username: 'root', password: ORDER.password };
      await hypervisor.create(ORDER, 1);
      const port = (await hypervisor.list())[0]?.ports['80'];
      await factsOf(port);
      await outputIn(folder, login, 'echo before > /root/note; sync');
      await backups.create(vmId, 'note', 2);
      await outputIn(folder, login, 'echo after > /root/note; sync');
      await hypervisor.setLogin(vmId, { password: 'Second-Password-2', sshKey: null }, 3);
      await hypervisor.resize({ ...ORDER, cores: 2, mem: 320, disk: 20 }, 4);
      await factsOf(port, ({ boots }) => boots === 2);
      expect(await outputIn(folder, { ...login, password: 'Second-Password-2' }, 'cat /root/note')).toBe('after');

      await backups.restore(vmId, 'note', 5);
      // The copy has one boot.
      const resized = await factsOf(port, ({ boots }) => boots === 2);
      expect(resized).toMatchObject({ cores: 2, disk_bytes: 20 * 1024 ** 3, instance: '48213-1' });
      expect(await outputIn(folder, login, 'cat /root/note')).toBe('before');

      await hypervisor.reinstall({ ...ORDER, hostname: 'second-name' }, 6);
      await factsOf(port, ({ instance }) => instance === '48213-2');
      await backups.restore(vmId, 'note', 7);
      expect(await factsOf(port, ({ instance }) => instance === '48213-1')).toMatchObject({ hostname: 'my-machine', cores: 2 });
      expect(await outputIn(folder, login, 'cat /root/note')).toBe('before');
      await hypervisor.remove(vmId, 8);
      expect({ processes: processesOf(serviceId), files: readdirSync(directory) }).toEqual({ processes: [], files: [] });
    },
  );

  // A condition of the test itself would take the place of its tag.
  describe.skipIf(!makesIsos)('with an ISO file', () => {
    test('boots from an ISO file until it is ejected, also over a restart', { tags: 'deep' }, async () => {
      const [directory, serviceId] = [vmFolder(), newServiceId()];
      onTestFinished(() => discard(directory, serviceId));
      const hypervisor = qemuHypervisor({ serviceId, fence: memoryFence(), directory, images: await testImages(), accelerator: 'tcg' });
      const { isos = expect.fail('The adapter has no ISO files.') } = hypervisor;
      const { vmId } = ORDER;
      const parameters = () => outputIn(join(directory, `vm-${vmId}`), { username: 'root', password: ORDER.password }, 'cat /proc/cmdline');
      expect(isos.files).toEqual([{ name: 'rescue', displayname: 'rescue', platform: 'linux' }]);
      await hypervisor.create(ORDER, 1);
      expect(await parameters()).not.toContain('from-iso');
      await isos.insert(vmId, 'rescue', 2);
      expect(await parameters()).toContain('from-iso');
      await hypervisor.restart(vmId, 3);
      expect(await parameters()).toContain('from-iso');
      await isos.eject(vmId, 4);
      expect(await parameters()).not.toContain('from-iso');
      await expect(isos.insert(vmId, '../rescue', 5)).rejects.toThrow('There is no ISO file ../rescue');
      expect(await hypervisor.list()).toMatchObject([{ running: true }]);
    });
  });

  test('moves to other ports if a program took its ports while it was stopped', { tags: 'deep' }, async () => {
    const [directory, serviceId] = [vmFolder(), newServiceId()];
    onTestFinished(() => discard(directory, serviceId));
    const hypervisor = await open(directory, { serviceId, fence: memoryFence() });
    await hypervisor.create(ORDER, 1);
    const before = (await hypervisor.list())[0]?.ports;
    await hypervisor.stop(ORDER.vmId, 2);
    const other = createServer().listen(before?.['80'], '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    await hypervisor.start(ORDER.vmId, 3);
    const after = (await hypervisor.list())[0]?.ports;
    expect(after?.['80']).not.toBe(before?.['80']);
    expect(await factsOf(after?.['80'])).toMatchObject({ hostname: 'my-machine' });
  });

  test('ten VMs at once answer, are idle, and go back to a snapshot: the output has the figures', { tags: 'deep' }, async () => {
    const [directory, serviceId] = [vmFolder(), newServiceId()];
    onTestFinished(() => discard(directory, serviceId));
    const hypervisor = qemuHypervisor({ serviceId, fence: memoryFence(), directory, images: await testImages() });
    const begun = performance.now();
    await Promise.all(Array.from({ length: 10 }, (_, index) => hypervisor.create({ ...ORDER, vmId: ORDER.vmId + index }, 1)));
    const created = performance.now() - begun;
    const vms = await hypervisor.list();
    expect(vms).toHaveLength(10);
    await Promise.all(vms.map(({ ports }) => factsOf(ports['80'])));
    const answered = performance.now() - begun;
    async function totals() {
      const usages = await usageIn(hypervisor, ...vms.map(({ vmId }) => vmId));
      expect(usages).toHaveLength(10);
      const sum = (of: 'cpuSeconds' | 'memory') => usages.reduce((total, one) => total + (one[of] ?? 0), 0);
      return { at: performance.now(), cpuSeconds: sum('cpuSeconds'), memory: sum('memory') };
    }
    const before = await totals();
    await wait(IDLE_MS);
    const after = await totals();
    const idle = (after.cpuSeconds - before.cpuSeconds) / ((after.at - before.at) / 1_000);
    const snapshotBegun = performance.now();
    await hypervisor.snapshot(ORDER.vmId, 'figures');
    const restoreBegun = performance.now();
    await hypervisor.restore(ORDER.vmId, 'figures');
    const restored = performance.now();
    await Promise.all(vms.map(({ vmId }) => hypervisor.remove(vmId, 2)));
    const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
    process.stdout.write(
      `Ten VMs at once: created after ${seconds(created)}, all answer after ${seconds(answered)}, ${idle.toFixed(2)} cores while idle, ` +
        `${(after.memory / 1024 ** 3).toFixed(2)} GiB. Snapshot ${seconds(restoreBegun - snapshotBegun)}, restore ${seconds(restored - restoreBegun)}.\n`,
    );
    expect({ processes: processesOf(serviceId), files: readdirSync(directory) }).toEqual({ processes: [], files: [] });
  });

  test('has the machine, its images, its VMs and what another program put there in its inventory', async () => {
    const [directory, serviceId] = [vmFolder(), newServiceId()];
    onTestFinished(() => discard(directory, serviceId));
    const hypervisor = await open(directory, { serviceId, fence: memoryFence() });
    await hypervisor.create(ORDER, 1);
    mkdirSync(join(directory, 'backup-of-the-team'));
    const { nodes, images, vms } = (await hypervisor.inventory?.()) ?? expect.fail('There is no inventory.');
    expect(nodes).toMatchObject([{ name: hostname().toLowerCase(), cores: availableParallelism(), storage: 0 }]);
    expect(nodes?.[0]?.mem).toBeGreaterThan(500);
    expect(images).toEqual(['test-linux']);
    const { vmId, node, cores, mem, disk, os } = ORDER;
    expect(vms.toSorted((one, other) => one.resource.localeCompare(other.resource))).toEqual([
      expect.objectContaining({ resource: 'backup-of-the-team', vmId: null, running: null }),
      { resource: `vm-${vmId}`, vmId, running: true, node, cores, mem, disk, os, hostname: ORDER.hostname },
    ]);
  });

  test('a guest whose agent does not answer is measured, except for its network', async () => {
    const [directory, serviceId] = [vmFolder(), newServiceId()];
    onTestFinished(() => discard(directory, serviceId));
    const hypervisor = await open(directory, { serviceId, fence: memoryFence() });
    await hypervisor.create(ORDER, 1);
    // It needs seconds to boot.
    const [usage] = await usageIn(hypervisor, ORDER.vmId);
    expect(usage).toMatchObject({ vmId: ORDER.vmId, received: null, sent: null, disk: expect.any(Number), diskRead: expect.any(Number) });
    expect(usage?.memory).toBeGreaterThan(1024 ** 2);
  });

  test('an order that differs in what decides who gets in has a new disk, and an equal one keeps its disk', async () => {
    const [directory, serviceId] = [vmFolder(), newServiceId()];
    onTestFinished(() => discard(directory, serviceId));
    const images = join(directory, '.images');
    await linkTestImages(images, ORDER.os);
    for (const file of readdirSync(images).filter((name) => name.startsWith(ORDER.os)))
      symlinkSync(join(images, file), join(images, file.replace(ORDER.os, 'other-linux')));
    const hypervisor = qemuHypervisor({ serviceId, fence: memoryFence(), directory, images, defaultImage: ORDER.os, shutdownMs: 0 });
    const disk = () => statSync(join(directory, `vm-${ORDER.vmId}`, 'disk.qcow2')).ino;
    let token = 1;
    const others = {
      os: 'other-linux',
      hostname: 'other',
      username: 'admin',
      password: 'Second-Password-2',
      sshKey: null,
      userData: '#!/bin/sh',
    };
    for (const [field, other] of Object.entries(others)) {
      await hypervisor.create(ORDER, token++);
      const first = disk();
      await hypervisor.create(ORDER, token++);
      expect.soft(disk(), field).toBe(first);
      await hypervisor.create({ ...ORDER, [field]: other }, token++);
      expect.soft(disk(), field).not.toBe(first);
      await hypervisor.remove(ORDER.vmId, token++);
    }
    await hypervisor.create({ ...ORDER, os: 'other-linux' }, token++);
    const image = (name: string) => readFileSync(join(directory, `vm-${ORDER.vmId}`, 'disk.qcow2')).includes(join(images, `${name}.qcow2`));
    expect([image('other-linux'), image(ORDER.os)]).toEqual([true, false]);
    await hypervisor.create({ ...ORDER, os: 'not-there' }, token++);
    expect(image(ORDER.os)).toBe(true);
  });

  test('an operating system without an image is named, and nothing is left', async () => {
    const [directory, serviceId] = [vmFolder(), newServiceId()];
    onTestFinished(() => discard(directory, serviceId));
    const hypervisor = await open(directory, { serviceId, fence: memoryFence() });
    await expect(hypervisor.create({ ...ORDER, os: 'windows_2022' }, 1)).rejects.toThrow(
      /^There is no image of windows_2022\. Put it into .* as windows_2022\.qcow2\.$/,
    );
    expect(readdirSync(directory)).toEqual([]);
  });
});

async function usageIn(hypervisor: QemuHypervisor, ...vmIds: readonly number[]) {
  return (await hypervisor.usage?.(vmIds)) ?? expect.fail('QEMU measures its VMs.');
}

describe.skipIf(leftOut !== undefined)('the conformance suite on QEMU', () => {
  const strangerSteps = amountOf('QEMU_STEPS', { usual: 5, deep: 2_000 });
  test.each(hypervisorConformance(newSystem, { order: { ...ORDER, ipv4: ['192.0.2.10'], ipv6: ['2001:db8:1::/64'] }, strangerSteps }))(
    '$name',
    ({ run }) => expect(run()).resolves.toBeUndefined(),
  );
});

async function newSystem(): Promise<HypervisorSystem> {
  const [directory, serviceId] = [vmFolder(), newServiceId()];
  const hypervisor = await open(directory, { serviceId, fence: memoryFence() });
  function pathOf(vmId: number) {
    return join(directory, `vm-${vmId}`);
  }
  function isStrangers(vmId: number) {
    return existsSync(join(pathOf(vmId), 'stranger'));
  }
  return {
    open: (fence) => open(directory, { serviceId, fence }),
    openWithSlowCopies: (fence) => open(directory, { serviceId, fence, taskAfterMs: 0 }),
    // The image has a web server, and no SSH server. The case waits for its boot.
    ...(isDeep && { ports: { open: 80, closed: 22 } }),
    // It waits for three boots, which take 20 seconds.
    ...(isDeep && {
      async addressesIn(vmId) {
        const vm = (await hypervisor.list()).find((one) => one.vmId === vmId);
        // The DHCP client adds this address after the others.
        const { addresses } = await factsOf(vm?.ports['80'], (facts) => facts.addresses.includes('10.0.2.15'));
        return addresses.split(' ').map((address) => address.replace(/\/.*/, ''));
      },
    }),
    machines: async () => (await hypervisor.list()).map(({ ports: _ports, ...machine }) => machine),
    async lose(vmId) {
      for (const pid of processesOf(serviceId, vmId)) process.kill(pid, 'SIGKILL');
      rmSync(pathOf(vmId), { recursive: true });
    },
    stranger: {
      async create(vmId) {
        if (existsSync(pathOf(vmId))) return;
        mkdirSync(pathOf(vmId));
        writeFileSync(join(pathOf(vmId), 'stranger'), `disk of another program for ${vmId}`);
        // Half of them look like VMs, of another service.
        if (vmId % 2 === 0) writeFileSync(join(pathOf(vmId), 'vm.json'), JSON.stringify({ service: 'another', vmId, token: 1 }));
      },
      async rename(from, to) {
        if (isStrangers(from) && !existsSync(pathOf(to))) renameSync(pathOf(from), pathOf(to));
      },
      async remove(vmId) {
        if (isStrangers(vmId)) rmSync(pathOf(vmId), { recursive: true });
      },
      async state() {
        const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) => {
          const vmId = Number(/^vm-(\d+)\//.exec(file)?.[1]);
          return isStrangers(vmId);
        });
        return files
          .toSorted()
          .map((file) => `${file}: ${readFileSync(join(directory, file), 'utf8')}`)
          .join('\n');
      },
    },
    async close() {
      discard(directory, serviceId);
    },
  };
}

/** The beginnings of the names that a VM's folder has while it is being created, and afterwards. */
const STAGES = ['.draft', 'vm-'];

describe.skipIf(leftOut !== undefined)('a process that is killed while it creates a VM', () => {
  const rounds = amountOf('QEMU_KILLS', { usual: 2, deep: 20 });
  test(`the next one finishes or removes it, ${rounds} times`, async () => {
    const images = await testImages();
    const [directory, serviceId] = [vmFolder(), newServiceId()];
    onTestFinished(() => discard(directory, serviceId));
    const seen = new Set<string>();
    for (let round = 0; round < rounds; round++) {
      const endsAt = STAGES[round];
      const child = fork(join(import.meta.dirname, '../../test/create-vm.ts'), [JSON.stringify({ serviceId, directory, images, endsAt })]);
      const ended = once(child, 'exit');
      await once(child, 'message');
      if (endsAt === undefined) {
        // The further rounds of a deep run end the process at other moments of a creation, which takes about 200 ms.
        await wait((round * 15) % 300);
        child.kill('SIGKILL');
      }
      expect(await ended).toEqual([null, 'SIGKILL']);
      seen.add(readdirSync(directory).join());
      const next = await open(directory, { serviceId, fence: memoryFence() });
      await next.create(ORDER, 2);
      expect(await next.list()).toEqual([expect.objectContaining({ vmId: ORDER.vmId, running: true })]);
      await expect.poll(() => processesOf(serviceId)).toHaveLength(1);
      await next.remove(ORDER.vmId, 3);
      expect({ processes: processesOf(serviceId), files: readdirSync(directory) }).toEqual({ processes: [], files: [] });
    }
    // At least one process died in the middle of its work.
    expect(seen.size).toBeGreaterThan(1);
  });
});
