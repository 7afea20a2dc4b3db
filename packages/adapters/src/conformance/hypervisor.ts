/** The rules for each hypervisor, as cases for any test runner. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

import type { Fence } from '../fencing.ts';
import type { Hypervisor, VmOrder, VmSize } from '../hypervisor.ts';
import type { DoneOrStarted, TaskState } from '../task.ts';
import { conformanceCases, generator, isStale } from './case.ts';
import type { ConformanceCase } from './case.ts';

export type { ConformanceCase } from './case.ts';

/** A VM as the system under the adapter shows it. */
export interface MachineSeen {
  readonly vmId: number;
  readonly running: boolean;
  readonly cores: number;
  /** MB. */
  readonly mem: number;
}

/** The system under an adapter, as the cases see and disturb it. */
export interface HypervisorSystem {
  /** Creates a new adapter with this fence, as a process does when it starts. */
  open(fence: Fence): Promise<Hypervisor>;
  /** The VMs that carry the mark of the service. Omit it for a simulation without VMs; the cases then only check the tokens. */
  machines?(): Promise<readonly MachineSeen[]>;
  /** The addresses that the system in a running VM uses, as soon as it has started. Omit it if they cannot be seen. */
  addressesIn?(vmId: number): Promise<readonly string[]>;
  /** A port at which the ordered operating system listens, and one at which it does not. Omit them if no port can be reached. */
  readonly ports?: { readonly open: number; readonly closed: number };
  /** Removes a VM behind the adapter's back. */
  lose?(vmId: number): Promise<void>;
  /**
   * Makes the task that the next call starts fail at its end. Omit it if calls start no tasks, or none can be made to fail; the case about it
   * then does nothing.
   */
  failNextTask?(): Promise<void>;
  /**
   * A new adapter, for which each copy of a disk takes longer than the service waits for a call. Omit it if the system makes no backups, or its
   * copies take no time; the case about them then does nothing.
   */
  openWithSlowCopies?(fence: Fence): Promise<Hypervisor>;
  /** The acts of another program in the same system. Omit it if no other program can use the system. */
  readonly stranger?: Stranger;
  close(): Promise<void>;
}

/** Another program, whose resources an adapter must leave alone. */
export interface Stranger {
  /** Creates a resource with the name or number that the adapter would use for this VM. Does nothing if it is in use. */
  create(vmId: number): Promise<void>;
  /** Gives the stranger's resource of one VM the name or number of another one. Does nothing if it is in use, or if there is no resource. */
  rename(from: number, to: number): Promise<void>;
  remove(vmId: number): Promise<void>;
  /** All resources of the stranger with their contents. Two texts are equal exactly if nothing was changed. */
  state(): Promise<string>;
}

export interface ConformanceOptions {
  /** The order with which the cases create VMs. Its operating system, node and size must be valid in the system. */
  readonly order?: Partial<VmOrder>;
  /** Steps of the case with a second program. Default: 10,000. Choose fewer where a step takes seconds. */
  readonly strangerSteps?: number;
}

const ORDER: VmOrder = {
  vmId: 48_213,
  node: 'node-1',
  cores: 1,
  mem: 512,
  disk: 10,
  storage: null,
  networkSpeed: 1_000,
  backupSlots: 2,
  ipv4: ['192.0.2.10'],
  ipv6: ['2001:db8:1::/64'],
  os: 'debian_12',
  hostname: 'conformance',
  username: 'root',
  password: 'Conformance-Password-1',
  sshKey: null,
  userData: null,
};
const DEFAULT_STRANGER_STEPS = 10_000;
const LONGEST_TASK = 500;
const LONGEST_RUN = 100;
const COUNTERS = ['seconds', 'cpuSeconds', 'diskRead', 'diskWritten', 'received', 'sent'] as const;
const NUMBERS = [...COUNTERS, 'memory', 'disk'] as const;
const POLL_MS = 5;
/** VMs in the case with a second program. Few, so that both programs often want the same one. */
const CONTESTED_VMS = 6;

interface Bench {
  readonly system: HypervisorSystem;
  readonly fence: Fence;
  readonly order: VmOrder;
  readonly strangerSteps: number;
  /** The adapter after a restart of the process. Its calls wait for the tasks that they start. */
  open(): Promise<FinishingHypervisor>;
  /** Waits for a call, and for the task that it starts. */
  finish(call: Promise<DoneOrStarted>): Promise<void>;
  /** The adapter itself, after a restart of the process. */
  openPlain(): Promise<Hypervisor>;
  /** Fails unless exactly these VMs exist. */
  expectMachines(...expected: readonly Partial<MachineSeen>[]): Promise<void>;
}

/**
 * The cases that every hypervisor passes. Each uses a system that it gets from `newSystem` and closes.
 *
 * @param newSystem Returns an empty system.
 */
export function hypervisorConformance(
  newSystem: () => Promise<HypervisorSystem>,
  { order = {}, strangerSteps = DEFAULT_STRANGER_STEPS }: ConformanceOptions = {},
): readonly ConformanceCase[] {
  return conformanceCases(CASES, newSystem, (system, fence) => ({
    system,
    fence,
    order: { ...ORDER, ...order },
    strangerSteps,
    open: async () => finishing(await system.open(fence)),
    finish: async (call) => finished(await system.open(fence), call),
    openPlain: () => system.open(fence),
    expectMachines: (...expected) => compareMachines(system, expected),
  }));
}

const CASES: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  'a created VM runs with the ordered resources': async ({ open, order, expectMachines }) => {
    await (await open()).create(order, 1);
    await expectMachines({ vmId: order.vmId, running: true, cores: order.cores, mem: order.mem });
  },

  'each call can be repeated': async ({ open, order, expectMachines }) => {
    const hypervisor = await open();
    const { vmId } = order;
    const bigger = { ...order, mem: order.mem * 2 };
    const steps: readonly [() => Promise<void>, readonly Partial<MachineSeen>[]][] = [
      [() => hypervisor.create(order, 1), [{ vmId, running: true }]],
      [() => hypervisor.stop(vmId, 2), [{ vmId, running: false }]],
      [() => hypervisor.start(vmId, 3), [{ vmId, running: true }]],
      [() => hypervisor.restart(vmId, 4), [{ vmId, running: true }]],
      [() => hypervisor.resize(bigger, 5), [{ vmId, mem: bigger.mem }]],
      [() => hypervisor.reinstall(bigger, 6), [{ vmId, running: true, mem: bigger.mem }]],
      [() => hypervisor.remove(vmId, 7), []],
    ];
    for (const [step, expected] of steps)
      for (const _ of [1, 2]) {
        await step();
        await expectMachines(...expected);
      }
  },

  'a running VM gets another address and loses it again, and stays the machine that it was': async ({ open, order, expectMachines }) => {
    const hypervisor = await open();
    const { vmId, cores, mem, ipv4 } = order;
    await hypervisor.create(order, 1);
    for (const [token, addresses] of [
      [2, [...ipv4, '192.0.2.11']],
      [3, ipv4],
      [4, ['192.0.2.12', ...ipv4]],
    ] as const) {
      await hypervisor.resize({ ...order, ipv4: addresses }, token);
      await expectMachines({ vmId, running: true, cores, mem });
    }
  },

  'a running VM uses a further address at once, or from its next start on, as the adapter says': async (bench) => {
    const { open, openPlain, order, system } = bench;
    if (!system.addressesIn) return;
    const [hypervisor, { addressesNeedRestart = false, restartsToResize = false }] = [await open(), await openPlain()];
    const { vmId, ipv4 } = order;
    async function uses(address: string): Promise<boolean> {
      return (await system.addressesIn?.(vmId))?.includes(address) ?? false;
    }
    const size = { ...order, ipv4: [...ipv4, '192.0.2.11'] };
    await hypervisor.create(order, 1);
    assert.deepEqual([await uses('192.0.2.11'), await uses(ipv4[0] ?? '')], [false, ipv4.length > 0]);
    await hypervisor.resize(size, 2);
    assert.equal(await uses('192.0.2.11'), !addressesNeedRestart, 'addressesNeedRestart says when a further address is in use.');
    await hypervisor.restart(vmId, 3);
    assert.equal(await uses('192.0.2.11'), true, 'A VM that has started uses all its addresses.');
    const more = { ...size, mem: order.mem * 2, ipv4: [...size.ipv4, '192.0.2.12'] };
    await hypervisor.resize(more, 4);
    assert.equal(await uses('192.0.2.12'), restartsToResize || !addressesNeedRestart, 'restartsToResize says whether a resize is a start.');
    assert.equal(await uses('192.0.2.11'), true);
  },

  'a port of a VM is reached while its system listens there, and not when it is stopped': async ({ openPlain, order, system }) => {
    const plain = await openPlain();
    if (!plain.reaches || !system.ports) return;
    const { open, closed } = system.ports;
    const hypervisor = finishing(plain);
    const { vmId } = order;
    assert.equal(await plain.reaches(vmId, open), false, 'A VM that does not exist is not reached.');
    await hypervisor.create(order, 1);
    while (!(await plain.reaches(vmId, open))) await wait(POLL_MS);
    assert.deepEqual(await Promise.all([plain.reaches(vmId, closed), plain.reaches(vmId, open)]), [false, true]);
    await hypervisor.stop(vmId, 2);
    assert.equal(await plain.reaches(vmId, open), false, 'A VM that does not run is not reached.');
  },

  'the console of a running VM speaks RFB to several at once, and ends with the machine': async ({ openPlain, order }) => {
    const plain = await openPlain();
    if (!plain.console) return;
    const hypervisor = finishing(plain);
    const { vmId } = order;
    await hypervisor.create(order, 1);
    const consoles = [await plain.console(vmId), await plain.console(vmId)];
    const greetings = await Promise.all(consoles.map(async (console) => String((await once(console, 'data'))[0])));
    for (const greeting of greetings) assert.match(greeting, /^RFB 003\.\d{3}\n$/, 'A console begins with the version of RFB.');
    const ended = Promise.all(consoles.map((console) => once(console.resume(), 'close')));
    await hypervisor.stop(vmId, 2);
    await ended;
    await assert.rejects(plain.console(vmId), 'A VM that does not run has no console.');
  },

  'a stopped VM can be resized, restarted and reinstalled': async ({ open, order, expectMachines }) => {
    const hypervisor = await open();
    const { vmId } = order;
    await hypervisor.create(order, 1);
    await hypervisor.stop(vmId, 2);
    await hypervisor.resize({ ...order, mem: order.mem * 2 }, 3);
    await expectMachines({ vmId, running: false, mem: order.mem * 2 });
    await hypervisor.restart(vmId, 4);
    await expectMachines({ vmId, running: true, mem: order.mem * 2 });
    await hypervisor.stop(vmId, 5);
    await hypervisor.reinstall(order, 6);
    await expectMachines({ vmId, running: true });
  },

  'a stale call is rejected and changes nothing': async ({ open, order, expectMachines }) => {
    const hypervisor = await open();
    const { vmId } = order;
    await hypervisor.create(order, 5);
    for (const call of callsOf(order)) await assert.rejects(call(hypervisor, 4), isStale);
    await expectMachines({ vmId, running: true, mem: order.mem });
    await hypervisor.remove(vmId, 6);
    for (const call of callsOf(order)) await assert.rejects(call(hypervisor, 5), isStale);
    await expectMachines();
  },

  'a creation that the service gave up does not survive its removal': async ({ open, order, expectMachines }) => {
    const hypervisor = await open();
    const late = hypervisor.create(order, 1).then(
      () => 'created',
      (error: unknown) => error,
    );
    await hypervisor.remove(order.vmId, 2);
    const end = await late;
    assert.ok(end === 'created' || isStale(end) || end instanceof TaskFailedError, `The late call ended with ${String(end)}.`);
    await expectMachines();
  },

  'a creation after a timeout takes the place of the first one': async ({ open, order, expectMachines }) => {
    const hypervisor = await open();
    const ends = await Promise.allSettled([hypervisor.create(order, 1), hypervisor.create(order, 2)]);
    assert.equal(ends[1].status, 'fulfilled', 'The call with the higher token must succeed.');
    await expectMachines({ vmId: order.vmId, running: true });
  },

  'a crash between a call and its confirmation: the next process repeats or undoes the call': async ({ open, order, expectMachines }) => {
    await (await open()).create(order, 1);
    await (await open()).create(order, 2);
    await expectMachines({ vmId: order.vmId, running: true });
    await (await open()).remove(order.vmId, 3);
    await expectMachines();
  },

  'a task goes on when the process ends, and another process sees its end': async ({ open, openPlain, order, expectMachines }) => {
    const hypervisor = await openPlain();
    const started = await hypervisor.create(order, 1);
    if (!started) return;
    const next = await openPlain();
    for (const _ of [1, 2]) assert.deepEqual(await endOf(next, started.task), { status: 'succeeded' });
    await expectMachines({ vmId: order.vmId, running: true });
    await (await open()).stop(order.vmId, 2);
    assert.deepEqual(await endOf(next, started.task), { status: 'succeeded' }, 'The end of a task stays the same.');
  },

  'a removal while a task runs ends the task': async ({ open, openPlain, order, expectMachines }) => {
    const hypervisor = await openPlain();
    const started = await hypervisor.create(order, 1);
    if (!started) return;
    await (await open()).remove(order.vmId, 2);
    await expectMachines();
    // It may have succeeded before the removal.
    await endOf(hypervisor, started.task);
    await expectMachines();
  },

  'a call after a timeout takes the place of a task that still runs': async ({ open, openPlain, order, expectMachines }) => {
    if (!(await (await openPlain()).create(order, 1))) return;
    await (await open()).create({ ...order, hostname: 'other', password: 'Other-Password-3', mem: order.mem * 2 }, 2);
    await expectMachines({ vmId: order.vmId, running: true, mem: order.mem * 2 });
  },

  'a task that fails at its end says why, and can be undone': async ({ open, openPlain, order, system, expectMachines }) => {
    await system.failNextTask?.();
    const hypervisor = await openPlain();
    const started = system.failNextTask && (await hypervisor.create(order, 1));
    if (!started) return;
    const end = await endOf(hypervisor, started.task);
    assert.ok(end.status === 'failed' && end.reason !== '', `The task ended with ${JSON.stringify(end)}.`);
    await (await open()).remove(order.vmId, 2);
    await expectMachines();
    await (await open()).create(order, 3);
    await expectMachines({ vmId: order.vmId, running: true });
  },

  'the inventory names each VM of the service, and what belongs to a stranger without the mark of the service': async (bench) => {
    const { open, openPlain, order, system } = bench;
    const hypervisor = await openPlain();
    if (!hypervisor.inventory) return;
    const foreign = (await hypervisor.inventory()).vms.length;
    await (await open()).create(order, 1);
    await system.stranger?.create(order.vmId + 1);
    const before = await system.stranger?.state();
    const { vms } = await hypervisor.inventory();
    const [own, ...others] = vms.filter(({ vmId }) => vmId !== null);
    assert.deepEqual(others, []);
    const { vmId, cores, mem } = order;
    assert.deepEqual({ vmId: own?.vmId, running: own?.running, cores: own?.cores, mem: own?.mem }, { vmId, running: true, cores, mem });
    assert.equal(vms.length, foreign + (system.stranger ? 2 : 1), 'The inventory must have the resource of the stranger.');
    assert.equal(await system.stranger?.state(), before);
    await (await open()).stop(order.vmId, 2);
    assert.equal((await hypervisor.inventory()).vms.find((vm) => vm.vmId === vmId)?.running, false);
    await system.lose?.(vmId);
    if (system.lose) assert.equal((await hypervisor.inventory()).vms.length, vms.length - 1);
  },

  'a released VM stays, without the mark of the service, and is not touched any further': async (bench) => {
    const { open, openPlain, order, expectMachines } = bench;
    const plain = await openPlain();
    const { vmId } = order;
    if (!plain.release || !plain.inventory) return;
    const hypervisor = await open();
    await hypervisor.create(order, 5);
    await assert.rejects(plain.release(vmId, 4), isStale);
    const { length } = (await plain.inventory()).vms;
    for (const token of [6, 6, 7]) await plain.release(vmId, token);
    await expectMachines();
    const released = (await plain.inventory()).vms;
    assert.deepEqual([released.length, released.every((vm) => vm.vmId === null)], [length, true]);
    // Its number is free.
    await hypervisor.create(order, 8);
    await expectMachines({ vmId, running: true });
    await hypervisor.remove(vmId, 9);
    assert.deepEqual((await plain.inventory()).vms, released);
  },

  'a backup is made of a VM that runs or not, and restored with the present cores and memory': async (bench) => {
    const { open, openPlain, finish, order, system, expectMachines } = bench;
    const { backups } = await openPlain();
    if (!backups) return;
    const hypervisor = await open();
    const { vmId } = order;
    await hypervisor.create(order, 1);
    for (const token of [2, 2, 3]) await finish(backups.create(vmId, 'running', token));
    await assert.rejects(backups.create(vmId, 'stale', 2), isStale);
    await hypervisor.stop(vmId, 4);
    await finish(backups.create(vmId, 'stopped', 5));
    await hypervisor.resize({ ...order, mem: order.mem * 2, disk: order.disk * 2 }, 6);
    await finish(backups.restore(vmId, 'running', 7));
    await expectMachines({ vmId, running: false, mem: order.mem * 2 });
    await hypervisor.start(vmId, 8);
    for (const token of [9, 9, 10]) await finish(backups.restore(vmId, 'stopped', token));
    await expectMachines({ vmId, running: true, mem: order.mem * 2 });
    await assert.rejects(backups.restore(vmId, 'stopped', 8), isStale);
    await hypervisor.reinstall(order, 11);
    await finish(backups.restore(vmId, 'running', 12));
    await expectMachines({ vmId, running: true, mem: order.mem * 2 });
    for (const token of [13, 13, 14]) await finish(backups.remove(vmId, 'running', token));
    // A simulation without VMs knows no backups either.
    if (system.machines) await assert.rejects(finish(backups.restore(vmId, 'running', 15)), isNotStale);
    await expectMachines({ vmId, running: true });
  },

  'a backup that takes longer than the timeout is a task, which an undo ends, and so is its restoration': async (bench) => {
    const { open, finish, fence, order, system, expectMachines } = bench;
    const slow = await system.openWithSlowCopies?.(fence);
    const backups = slow?.backups;
    if (!slow || !backups) return;
    const { vmId } = order;
    await (await open()).create(order, 1);
    const begun = await backups.create(vmId, 'slow', 2);
    assert.ok(begun, 'A call that takes longer than a request should last starts a task.');
    // The undo ends the task, or removes the copy that it has made.
    await finish(backups.remove(vmId, 'slow', 3));
    assert.notEqual((await endOf(slow, begun.task)).status, 'running');
    await assert.rejects(finish(backups.restore(vmId, 'slow', 4)), isNotStale);
    await finish(backups.create(vmId, 'slow', 5));
    const restoring = await backups.restore(vmId, 'slow', 6);
    assert.ok(restoring, 'The restoration takes as long as the backup, so it is a task, too.');
    assert.equal((await endOf(slow, restoring.task)).status, 'succeeded');
    // Another process says the same.
    assert.equal((await endOf(await system.open(fence), restoring.task)).status, 'succeeded');
    await expectMachines({ vmId, running: true });
  },

  'a VM boots from an ISO file until it is ejected': async ({ open, openPlain, finish, order, expectMachines }) => {
    const { isos } = await openPlain();
    const [file] = isos?.files ?? [];
    if (!isos || !file) return;
    const hypervisor = await open();
    const { vmId } = order;
    await hypervisor.create(order, 1);
    for (const token of [2, 2, 3]) await finish(isos.insert(vmId, file.name, token));
    await expectMachines({ vmId, running: true });
    await assert.rejects(isos.insert(vmId, file.name, 2), isStale);
    await assert.rejects(isos.eject(vmId, 2), isStale);
    await hypervisor.restart(vmId, 4);
    await hypervisor.resize({ ...order, mem: order.mem * 2 }, 5);
    for (const token of [6, 6, 7]) await finish(isos.eject(vmId, token));
    await expectMachines({ vmId, running: true, mem: order.mem * 2 });
    await finish(isos.insert(vmId, file.name, 8));
    await hypervisor.reinstall(order, 9);
    await finish(isos.eject(vmId, 10));
    await expectMachines({ vmId, running: true });
    await finish(isos.insert(vmId, file.name, 11));
    await hypervisor.stop(vmId, 12);
    for (const token of [13, 13, 14]) await finish(isos.eject(vmId, token));
    await finish(isos.insert(vmId, file.name, 15));
    await expectMachines({ vmId, running: false });
  },

  'the backups of a removed VM do not come back with its number': async ({ open, openPlain, finish, order, system }) => {
    const { backups } = await openPlain();
    if (!backups) return;
    const hypervisor = await open();
    const { vmId } = order;
    await hypervisor.create(order, 1);
    await finish(backups.create(vmId, 'first', 2));
    await hypervisor.remove(vmId, 3);
    await finish(backups.remove(vmId, 'first', 4));
    await hypervisor.create(order, 5);
    if (system.machines) await assert.rejects(finish(backups.restore(vmId, 'first', 6)), isNotStale);
  },

  'only VMs that run are measured, and the counters of a run begin at 0 and never fall': async ({ open, openPlain, order, system }) => {
    const plain = await openPlain();
    if (!plain.usage) return;
    const hypervisor = await open();
    const { vmId } = order;
    await hypervisor.create(order, 1);
    await system.stranger?.create(vmId + 1);
    async function readUsage() {
      return (await (await openPlain()).usage?.([vmId, vmId + 1, vmId + 2])) ?? [];
    }
    // A simulation without VMs does not know which ones run.
    if (!system.machines) return;
    const [first, ...others] = await readUsage();
    assert.ok(first && others.length === 0, 'Exactly the VM that runs must be measured.');
    assert.equal(first.vmId, vmId);
    assert.ok(first.run !== '' && first.run.length <= LONGEST_RUN, `'${first.run}' must have 1 to ${LONGEST_RUN} characters.`);
    for (const name of NUMBERS) assert.ok((first[name] ?? 0) >= 0, `${name} is ${first[name]}.`);
    // The cases take less than an hour.
    assert.ok(first.seconds < 3_600, `The run began ${first.seconds} seconds ago, before its VM was created.`);
    const [second] = await readUsage();
    assert.equal(second?.run, first.run);
    for (const name of COUNTERS)
      assert.ok((second[name] ?? 0) >= (first[name] ?? 0), `${name} fell from ${first[name]} to ${second[name]}.`);
    assert.deepEqual(await plain.usage([]), []);
    await hypervisor.stop(vmId, 2);
    assert.deepEqual(await readUsage(), [], 'A VM that does not run must be left out.');
    await hypervisor.start(vmId, 3);
    const [third] = await readUsage();
    assert.ok(third && (third.run !== first.run || third.seconds >= second.seconds), 'Counters that begin again need another run.');
    await hypervisor.remove(vmId, 4);
    assert.deepEqual(await readUsage(), []);
  },

  'exactly the VMs of the service that run are in the list of those that run': async ({ open, openPlain, order, system }) => {
    const plain = await openPlain();
    if (!plain.running) return;
    const hypervisor = await open();
    const { vmId } = order;
    async function readRunning() {
      return (await (await openPlain()).running?.())?.toSorted((one, other) => one - other);
    }
    await hypervisor.create(order, 1);
    await hypervisor.create({ ...order, vmId: vmId + 1, ipv4: [], ipv6: [] }, 1);
    await system.stranger?.create(vmId + 2);
    if (!system.machines) return;
    assert.deepEqual(await readRunning(), [vmId, vmId + 1]);
    await hypervisor.stop(vmId, 2);
    assert.deepEqual(await readRunning(), [vmId + 1]);
    await hypervisor.start(vmId, 3);
    await hypervisor.remove(vmId + 1, 2);
    assert.deepEqual(await readRunning(), [vmId]);
  },

  'an identifier can be used again after its VM was removed': async ({ open, order, expectMachines }) => {
    const hypervisor = await open();
    await hypervisor.create(order, 1);
    await hypervisor.remove(order.vmId, 2);
    await hypervisor.create({ ...order, mem: order.mem * 2 }, 3);
    await expectMachines({ vmId: order.vmId, running: true, mem: order.mem * 2 });
  },

  'an identifier that the store gives to a new order does not bring back an orphaned VM': async ({ open, order, expectMachines }) => {
    await (await open()).create(order, 1);
    await (await open()).create({ ...order, hostname: 'other', password: 'Other-Password-3', mem: order.mem * 2 }, 2);
    await expectMachines({ vmId: order.vmId, running: true, mem: order.mem * 2 });
  },

  'a VM that is missing can be stopped and removed, and cannot be started': async ({ open, order, system, expectMachines }) => {
    const hypervisor = await open();
    const { vmId } = order;
    await hypervisor.remove(vmId, 1);
    await hypervisor.create(order, 2);
    if (!system.lose) return;
    await system.lose(vmId);
    await assert.rejects(hypervisor.start(vmId, 3), isNotStale);
    await hypervisor.stop(vmId, 4);
    await hypervisor.remove(vmId, 5);
    await expectMachines();
  },

  'a resource of a stranger is neither used nor changed': async ({ open, order, system: { stranger }, expectMachines }) => {
    if (!stranger) return;
    const hypervisor = await open();
    await stranger.create(order.vmId);
    const before = await stranger.state();
    await assert.rejects(hypervisor.create(order, 1), isNotStale);
    // Their only duty is to leave the stranger alone. Whether they fail is up to the adapter.
    await Promise.allSettled(callsOf(order).map((call) => call(hypervisor, 2)));
    assert.equal(await stranger.state(), before);
    await expectMachines();
  },

  'no resource of a second program is touched while it creates, renames and removes': async ({ open, order, system, strangerSteps }) => {
    const { stranger } = system;
    if (!stranger) return;
    const hypervisor = await open();
    const random = generator(strangerSteps);
    function anyVm() {
      return order.vmId + random(CONTESTED_VMS);
    }
    const disturb = [() => stranger.create(anyVm()), () => stranger.rename(anyVm(), anyVm()), () => stranger.remove(anyVm())] as const;
    for (let step = 1; step <= strangerSteps; step++) {
      await disturb[random(disturb.length)]?.();
      const before: string = await stranger.state();
      const calls = callsOf({ ...order, vmId: anyVm() });
      await calls[random(calls.length)]?.(hypervisor, step).catch(() => {});
      assert.equal(await stranger.state(), before, `Step ${step} changed a resource of the second program.`);
    }
  },
};

/** The calls of a hypervisor that may start a task. */
type Starting = 'create' | 'reinstall' | 'start' | 'restart' | 'stop' | 'resize' | 'remove';

/** A hypervisor whose calls end when their tasks have ended. */
type FinishingHypervisor = Omit<Hypervisor, Starting> & {
  readonly [Name in Starting]: (...given: Parameters<Hypervisor[Name]>) => Promise<void>;
};

function finishing(hypervisor: Hypervisor): FinishingHypervisor {
  return {
    create: (...given) => finished(hypervisor, hypervisor.create(...given)),
    reinstall: (...given) => finished(hypervisor, hypervisor.reinstall(...given)),
    start: (...given) => finished(hypervisor, hypervisor.start(...given)),
    restart: (...given) => finished(hypervisor, hypervisor.restart(...given)),
    stop: (...given) => finished(hypervisor, hypervisor.stop(...given)),
    resize: (...given) => finished(hypervisor, hypervisor.resize(...given)),
    remove: (...given) => finished(hypervisor, hypervisor.remove(...given)),
    setLogin: (...given) => hypervisor.setLogin(...given),
  };
}

class TaskFailedError extends Error {
  override readonly name = 'TaskFailedError';
}

/** Waits for the task that a call has started. @throws TaskFailedError if it fails. */
async function finished(hypervisor: Hypervisor, call: Promise<DoneOrStarted>): Promise<void> {
  const started = await call;
  if (!started) return;
  const state = await endOf(hypervisor, started.task);
  if (state.status === 'failed') throw new TaskFailedError(`The task ${started.task} failed: ${state.reason}`);
}

async function endOf(hypervisor: Hypervisor, task: string): Promise<Exclude<TaskState, { status: 'running' }>> {
  assert.ok(task.length <= LONGEST_TASK, `The identifier of a task has ${task.length} characters, more than ${LONGEST_TASK}.`);
  for (;;) {
    const state = await hypervisor.task?.(task);
    assert.ok(state, 'A hypervisor whose calls start tasks needs the function task.');
    if (state.status !== 'running') return state;
    if (state.percentage !== null)
      assert.ok(state.percentage >= 0 && state.percentage <= 100, `${state.percentage} % is not a percentage.`);
    await wait(POLL_MS);
  }
}

/** Every call about a VM. */
function callsOf(order: VmOrder): readonly ((hypervisor: FinishingHypervisor, token: number) => Promise<void>)[] {
  const { vmId } = order;
  const size: VmSize = { ...order, mem: order.mem * 2 };
  return [
    (hypervisor, token) => hypervisor.create(order, token),
    (hypervisor, token) => hypervisor.stop(vmId, token),
    (hypervisor, token) => hypervisor.start(vmId, token),
    (hypervisor, token) => hypervisor.restart(vmId, token),
    (hypervisor, token) => hypervisor.resize(size, token),
    (hypervisor, token) => hypervisor.reinstall(order, token),
    (hypervisor, token) => hypervisor.setLogin(vmId, { password: 'Another-Password-2', sshKey: null }, token),
    (hypervisor, token) => hypervisor.remove(vmId, token),
  ];
}

async function compareMachines({ machines }: HypervisorSystem, expected: readonly Partial<MachineSeen>[]): Promise<void> {
  if (!machines) return;
  const seen = (await machines()).toSorted((one, other) => one.vmId - other.vmId);
  const compared = seen.map((machine, index) => ({ ...machine, ...expected[index] }));
  assert.deepEqual(seen.length === expected.length ? compared : expected, seen);
}

function isNotStale(error: unknown): boolean {
  return !isStale(error);
}
