/** The suite accepts a correct hypervisor, and names each mistake of a wrong one. */
import { describe, expect, test } from 'vitest';

import type { Fence } from '../fencing.ts';
import type { Hypervisor, VmOrder } from '../hypervisor.ts';
import { hypervisorConformance } from './hypervisor.ts';
import type { HypervisorSystem } from './hypervisor.ts';

interface Entry {
  readonly owner: 'service' | 'stranger';
  readonly running: boolean;
  readonly cores: number;
  readonly mem: number;
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
  return {
    async create({ vmId, cores, mem }: VmOrder, token) {
      await fence.admit(`vm/${vmId}`, token);
      const entry = entries.get(vmId);
      if (entry?.owner === 'stranger') throw new Error(`VM ${vmId} belongs to another program.`);
      entries.set(vmId, { owner: 'service', running: true, cores, mem });
    },
    reinstall: (vmId, _os, token) => change(vmId, token, { running: true }),
    start: (vmId, token) => change(vmId, token, { running: true }),
    restart: (vmId, token) => change(vmId, token, { running: true }),
    setPassword: (vmId, _password, token) => change(vmId, token, {}),
    async stop(vmId, token) {
      await fence.admit(`vm/${vmId}`, token);
      const entry = entries.get(vmId);
      if (entry?.owner === 'service') entries.set(vmId, { ...entry, running: false });
    },
    resize: ({ vmId, cores, mem }, token) => change(vmId, token, { cores, mem }),
    async remove(vmId, token) {
      await fence.admit(`vm/${vmId}`, token);
      if (entries.get(vmId)?.owner === 'service') entries.delete(vmId);
    },
  };
}

function systemWith(wrong: Wrong = () => ({})): HypervisorSystem {
  const entries: Entries = new Map();
  function isStrangers(vmId: number) {
    return entries.get(vmId)?.owner === 'stranger';
  }
  return {
    async open(fence) {
      const correct = correctHypervisor(entries, fence);
      return { ...correct, ...wrong(entries, fence, correct) };
    },
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
