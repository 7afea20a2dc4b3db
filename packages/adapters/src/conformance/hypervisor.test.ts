/** The suite accepts a correct hypervisor, and names each mistake of a wrong one. */
import { describe, expect, test } from 'vitest';

import type { Fence } from '../fencing.ts';
import type { Hypervisor, VmOrder } from '../hypervisor.ts';
import type { StartedTask, TaskState } from '../task.ts';
import { hypervisorConformance } from './hypervisor.ts';
import type { HypervisorSystem } from './hypervisor.ts';

interface Entry {
  readonly owner: 'service' | 'stranger';
  readonly running: boolean;
  readonly cores: number;
  readonly mem: number;
  /** How often it was started, and how often it was measured since. */
  readonly run?: number;
  readonly measured?: number;
  readonly ipv4?: readonly string[];
  /** Those that its system uses. */
  readonly used?: readonly string[] | undefined;
}

type Entries = Map<number, Entry>;
type Wrong = (entries: Entries, fence: Fence, correct: Hypervisor) => Partial<Hypervisor>;

function correctHypervisor(entries: Entries, fence: Fence): Hypervisor {
  async function change(vmId: number, token: number, changed: Partial<Entry>) {
    await fence.admit(`vm/${vmId}`, token);
    const entry = entries.get(vmId);
    if (entry?.owner !== 'service') throw new Error(`There is no VM ${vmId} of this service.`);
    entries.set(vmId, { ...entry, ...changed });
  }
  function begun(vmId: number): Partial<Entry> {
    const { run = 0, ipv4 } = entries.get(vmId) ?? {};
    return { running: true, run: run + 1, measured: 0, used: ipv4 };
  }
  return {
    addressesNeedRestart: true,
    async create({ vmId, cores, mem, ipv4 }: VmOrder, token) {
      await fence.admit(`vm/${vmId}`, token);
      const entry = entries.get(vmId);
      if (entry?.owner === 'stranger') throw new Error(`VM ${vmId} belongs to another program.`);
      entries.set(vmId, { owner: 'service', running: true, cores, mem, ipv4, used: ipv4 });
    },
    reinstall: ({ vmId }, token) => change(vmId, token, { running: true }),
    start: (vmId, token) => change(vmId, token, begun(vmId)),
    restart: (vmId, token) => change(vmId, token, begun(vmId)),
    setLogin: (vmId, _login, token) => change(vmId, token, {}),
    async stop(vmId, token) {
      await fence.admit(`vm/${vmId}`, token);
      const entry = entries.get(vmId);
      if (entry?.owner === 'service') entries.set(vmId, { ...entry, running: false });
    },
    resize: ({ vmId, cores, mem, ipv4 }, token) => change(vmId, token, { cores, mem, ipv4 }),
    async remove(vmId, token) {
      await fence.admit(`vm/${vmId}`, token);
      if (entries.get(vmId)?.owner === 'service') entries.delete(vmId);
    },
    async release(vmId, token) {
      await fence.admit(`vm/${vmId}`, token);
      const entry = entries.get(vmId);
      if (entry?.owner !== 'service') return;
      entries.delete(vmId);
      entries.set(-vmId, { ...entry, owner: 'stranger' });
    },
    async usage(vmIds) {
      return vmIds.flatMap((vmId) => {
        const entry = entries.get(vmId);
        if (entry?.owner !== 'service' || !entry.running) return [];
        const { run = 0, measured = 0, mem } = entry;
        entries.set(vmId, { ...entry, measured: measured + 1 });
        const bytes = { diskRead: measured, diskWritten: measured, received: measured, sent: null };
        return [{ vmId, run: `run-${run}`, seconds: measured, cpuSeconds: measured / 2, memory: mem, disk: null, ...bytes }];
      });
    },
    running: async () => [...entries].flatMap(([vmId, { owner, running }]) => (owner === 'service' && running ? vmId : [])),
    reaches: async (vmId, port) => entries.get(vmId)?.running === true && port === 80,
    inventory: async () => ({
      nodes: null,
      images: null,
      vms: [...entries].map(([vmId, { owner, running, cores, mem }]) => ({
        resource: String(vmId),
        vmId: owner === 'service' ? vmId : null,
        running,
        node: null,
        cores,
        mem,
        disk: null,
        os: null,
        hostname: null,
      })),
    }),
  };
}

/** What the system under a starting hypervisor knows of a task. It goes on without the adapter. */
interface Task {
  readonly vmId: number;
  state: TaskState;
}

/** A system that carries out each call in a task. */
function startingSystem(wrong: Partial<Record<'forgets' | 'is not ended by a removal' | 'claims success', true>> = {}): HypervisorSystem {
  const entries: Entries = new Map();
  const tasks = new Map<string, Task>();
  let failsNext = false;
  const plain = systemOn(entries);
  return {
    ...plain,
    async failNextTask() {
      failsNext = true;
    },
    async open(fence) {
      const known = wrong.forgets ? new Map<string, Task>() : tasks;
      const done = correctHypervisor(entries, { admit: async () => {} });
      async function start(vmId: number, token: number, work: () => Promise<unknown>): Promise<StartedTask> {
        await fence.admit(`vm/${vmId}`, token);
        for (const task of tasks.values())
          if (task.vmId === vmId && task.state.status === 'running')
            task.state = { status: 'failed', reason: 'A later call has ended it.' };
        const fails = failsNext;
        failsNext = false;
        const task: Task = { vmId, state: { status: 'running', percentage: 50 } };
        const id = `task-${tasks.size}`;
        for (const list of new Set([tasks, known])) list.set(id, task);
        setTimeout(() => {
          if (task.state.status !== 'running') return;
          if (fails && !wrong['claims success']) task.state = { status: 'failed', reason: 'The disk is full.' };
          else
            void work().then(
              () => (task.state = { status: 'succeeded' }),
              (error: unknown) => (task.state = { status: 'failed', reason: String(error) }),
            );
        }, 10);
        return { task: id };
      }
      return {
        ...done,
        create: (order, token) => start(order.vmId, token, () => Promise.resolve(done.create(order, token))),
        reinstall: (installation, token) => start(installation.vmId, token, () => Promise.resolve(done.reinstall(installation, token))),
        start: (vmId, token) => start(vmId, token, () => Promise.resolve(done.start(vmId, token))),
        restart: (vmId, token) => start(vmId, token, () => Promise.resolve(done.restart(vmId, token))),
        stop: (vmId, token) => start(vmId, token, () => Promise.resolve(done.stop(vmId, token))),
        resize: (size, token) => start(size.vmId, token, () => Promise.resolve(done.resize(size, token))),
        async remove(vmId, token) {
          if (!wrong['is not ended by a removal']) return start(vmId, token, () => Promise.resolve(done.remove(vmId, token)));
          await fence.admit(`vm/${vmId}`, token);
          return done.remove(vmId, token);
        },
        async release(vmId, token) {
          await fence.admit(`vm/${vmId}`, token);
          await done.release?.(vmId, token);
        },
        async setLogin(vmId, login, token) {
          await fence.admit(`vm/${vmId}`, token);
          await done.setLogin(vmId, login, token);
        },
        async task(id) {
          const task = known.get(id);
          if (!task) throw new Error(`There is no task ${id}.`);
          return task.state;
        },
      };
    },
  };
}

function systemWith(wrong: Wrong = () => ({})): HypervisorSystem {
  return systemOn(new Map(), wrong);
}

function systemOn(entries: Entries, wrong: Wrong = () => ({})): HypervisorSystem {
  function isStrangers(vmId: number) {
    return entries.get(vmId)?.owner === 'stranger';
  }
  return {
    async open(fence) {
      const correct = correctHypervisor(entries, fence);
      return { ...correct, ...wrong(entries, fence, correct) };
    },
    ports: { open: 80, closed: 81 },
    addressesIn: async (vmId) => entries.get(vmId)?.used ?? [],
    machines: async () =>
      [...entries].flatMap(([vmId, { owner, running, cores, mem }]) => (owner === 'service' ? [{ vmId, running, cores, mem }] : [])),
    lose: async (vmId) => void entries.delete(vmId),
    stranger: {
      async create(vmId) {
        if (!entries.has(vmId)) entries.set(vmId, { owner: 'stranger', running: true, cores: 1, mem: vmId });
      },
      async rename(from, to) {
        const entry = entries.get(from);
        if (entry === undefined || !isStrangers(from) || entries.has(to)) return;
        entries.delete(from);
        entries.set(to, entry);
      },
      async remove(vmId) {
        if (isStrangers(vmId)) entries.delete(vmId);
      },
      state: async () => JSON.stringify([...entries].filter(([vmId]) => isStrangers(vmId))),
    },
    close: async () => {},
  };
}

describe('a correct hypervisor', () => {
  test.each(hypervisorConformance(async () => systemWith(), { strangerSteps: 1_000 }))('$name', ({ run }) =>
    expect(run()).resolves.toBeUndefined(),
  );
});

describe('a correct hypervisor that starts tasks', () => {
  test.each(hypervisorConformance(async () => startingSystem(), { strangerSteps: 100 }))('$name', ({ run }) =>
    expect(run()).resolves.toBeUndefined(),
  );
});

test.each([
  ['forgets', 'a task goes on when the process ends, and another process sees its end'],
  ['is not ended by a removal', 'a removal while a task runs ends the task'],
  ['claims success', 'a task that fails at its end says why, and can be undone'],
] as const)('a hypervisor whose task %s fails', async (mistake, failing) => {
  const cases = hypervisorConformance(async () => startingSystem({ [mistake]: true }), { strangerSteps: 10 });
  const failed: string[] = [];
  for (const { name, run } of cases) await run().catch(() => failed.push(name));
  expect(failed).toContain(failing);
});

const LISTED = 'exactly the VMs of the service that run are in the list of those that run';
const MEASURED = 'only VMs that run are measured, and the counters of a run begin at 0 and never fall';

const MISTAKES: Readonly<Record<string, { readonly wrong: Wrong; readonly failing: string }>> = {
  'creates a VM with other resources': {
    wrong: (_entries, _fence, correct) => ({ create: (order, token) => correct.create({ ...order, mem: 1 }, token) }),
    failing: 'a created VM runs with the ordered resources',
  },
  'fails when a creation is repeated': {
    wrong: (entries, _fence, correct) => ({
      async create(order, token) {
        if (entries.has(order.vmId)) throw new Error('It exists.');
        await correct.create(order, token);
      },
    }),
    failing: 'each call can be repeated',
  },
  'does not compare tokens': {
    wrong: (entries) => correctHypervisor(entries, { admit: async () => {} }),
    failing: 'a stale call is rejected and changes nothing',
  },
  'creates late': {
    wrong: (_entries, fence, correct) => ({
      async create(order, token) {
        await fence.admit(`vm/${order.vmId}`, token);
        await new Promise(setImmediate);
        await correctHypervisor(_entries, { admit: async () => {} }).create(order, token);
      },
      remove: correct.remove,
    }),
    failing: 'a creation that the service gave up does not survive its removal',
  },
  'keeps removed VMs': {
    wrong: (_entries, fence) => ({ remove: (vmId, token) => fence.admit(`vm/${vmId}`, token) }),
    failing: 'a crash between a call and its confirmation: the next process repeats or undoes the call',
  },
  'fails to remove a missing VM': {
    wrong: (entries, _fence, correct) => ({
      async remove(vmId, token) {
        if (!entries.has(vmId)) throw new Error('It does not exist.');
        await correct.remove(vmId, token);
      },
    }),
    failing: 'a VM that is missing can be stopped and removed, and cannot be started',
  },
  'removes whatever has the number': {
    wrong: (entries, fence) => ({
      async remove(vmId, token) {
        await fence.admit(`vm/${vmId}`, token);
        entries.delete(vmId);
      },
    }),
    failing: 'no resource of a second program is touched while it creates, renames and removes',
  },
  'keeps the mark of a VM that it releases': {
    wrong: (_entries, fence) => ({ release: (vmId, token) => fence.admit(`vm/${vmId}`, token) }),
    failing: 'a released VM stays, without the mark of the service, and is not touched any further',
  },
  'removes a VM that it releases': {
    wrong: (_entries, _fence, correct) => ({ release: async (vmId, token) => void (await correct.remove(vmId, token)) }),
    failing: 'a released VM stays, without the mark of the service, and is not touched any further',
  },
  'takes the resources of a stranger for its own': {
    wrong: (_entries, _fence, correct) => ({
      async inventory() {
        const inventory = (await correct.inventory?.()) ?? { nodes: null, images: null, vms: [] };
        return { ...inventory, vms: inventory.vms.map((vm) => ({ ...vm, vmId: Number(vm.resource) })) };
      },
    }),
    failing: 'the inventory names each VM of the service, and what belongs to a stranger without the mark of the service',
  },
  'measures VMs that do not run': {
    wrong: (entries, _fence, correct) => ({
      async usage(vmIds) {
        for (const [vmId, entry] of entries) if (entry.owner === 'service') entries.set(vmId, { ...entry, running: true });
        return (await correct.usage?.(vmIds)) ?? [];
      },
    }),
    failing: MEASURED,
  },
  'measures VMs of a stranger': {
    wrong: (_entries, _fence, correct) => ({
      usage: async (vmIds) => {
        const usages = (await correct.usage?.(vmIds)) ?? [];
        return vmIds.flatMap((vmId) => usages.slice(0, 1).map((usage) => ({ ...usage, vmId })));
      },
    }),
    failing: MEASURED,
  },
  'keeps the run of a VM that was started again': {
    wrong: (_entries, _fence, correct) => ({
      usage: async (vmIds) => ((await correct.usage?.(vmIds)) ?? []).map((usage) => ({ ...usage, run: 'always' })),
    }),
    failing: MEASURED,
  },
  'lists all its VMs as those that run': {
    wrong: (entries) => ({
      running: async () => [...entries].flatMap(([vmId, { owner }]) => (owner === 'service' ? vmId : [])),
    }),
    failing: LISTED,
  },
  'lists VMs of a stranger as those that run': {
    wrong: (entries) => ({ running: async () => [...entries.keys()] }),
    failing: LISTED,
  },
  'reaches ports of VMs that do not run': {
    wrong: () => ({ reaches: async () => true }),
    failing: 'a port of a VM is reached while its system listens there, and not when it is stopped',
  },
  'says that further addresses are in use at once': {
    wrong: () => ({ addressesNeedRestart: false }),
    failing: 'a running VM uses a further address at once, or from its next start on, as the adapter says',
  },
  'says that a resize is a start': {
    wrong: () => ({ restartsToResize: true }),
    failing: 'a running VM uses a further address at once, or from its next start on, as the adapter says',
  },
  'adopts a resource of a stranger': {
    wrong: (entries, fence) => ({
      async create({ vmId, cores, mem }, token) {
        await fence.admit(`vm/${vmId}`, token);
        entries.set(vmId, { owner: 'service', running: true, cores, mem });
      },
    }),
    failing: 'a resource of a stranger is neither used nor changed',
  },
};

test.each(Object.entries(MISTAKES))('a hypervisor that %s fails', async (_name, { wrong, failing }) => {
  const failed: string[] = [];
  for (const { name, run } of hypervisorConformance(async () => systemWith(wrong), { strangerSteps: 1_000 }))
    await run().catch(() => failed.push(name));
  expect(failed).toContain(failing);
});
