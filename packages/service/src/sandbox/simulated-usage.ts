/** The use of VMs that no hypervisor runs, so that clients have numbers to show. */
import type { Hypervisor, VmUsage } from '@reseller/adapters';
import type { Selectable } from 'kysely';

import { countOf, measurementOf } from '../core/vm/measure-vms.ts';
import { KEPT_MS, USAGE_INTERVAL_MS } from '../core/vm/usage.ts';
import type { Clock } from '../ports/system.ts';
import { MS_PER_DAY } from '../rules/day.ts';
import { dayNumberOf, growthOf, ratesOf } from '../rules/usage.ts';
import type { Db, Store } from '../store/store.ts';
import type { VmsTable } from '../store/tables/vms.ts';

type SimulatedVm = Pick<Selectable<VmsTable>, 'id' | 'cores' | 'mem' | 'disk' | 'booted' | 'created'>;

/** The load of a VM rises and falls with the day and with the week, by these parts of its average. */
const WAVES = [
  { length: MS_PER_DAY, part: 0.6 },
  { length: 7 * MS_PER_DAY, part: 0.3 },
] as const;

/** Adds the use of VMs to a hypervisor without machines: every VM that runs in the store has a load of its own. */
export function withSimulatedUsage(hypervisor: Hypervisor, store: Store, clock: Clock): Hypervisor {
  return {
    ...hypervisor,
    async usage(vmIds) {
      if (vmIds.length === 0) return [];
      const vms = await store.read((db) =>
        db
          .selectFrom('vms')
          .select(['id', 'cores', 'mem', 'disk', 'booted', 'created'])
          .where('id', 'in', vmIds)
          .where('state', '=', 'running')
          .execute(),
      );
      return vms.map((vm) => simulatedUse(vm, clock.now()));
    },
  };
}

/** The counters at an instant, in milliseconds, are a function of the time alone. So it makes no difference how often they are read. */
export function simulatedUse({ id, cores, mem, disk, booted, created }: SimulatedVm, at: number): VmUsage {
  const begun = booted ?? created;
  const seconds = (at - begun) / 1_000;
  const work = (workUntil(id, at) - workUntil(id, begun)) / 1_000;
  const [share, rate] = [0.03 + (id % 11) / 100, 10_000 * (1 + (id % 7))];
  return {
    vmId: id,
    run: `since-${begun}`,
    seconds,
    cpuSeconds: work * cores * share,
    memory: mem * 1024 ** 2 * (0.3 + (id % 5) / 10),
    disk: disk * 1024 ** 3 * (0.1 + (id % 6) / 10),
    diskRead: work * 20_000,
    diskWritten: work * 60_000,
    received: work * rate,
    sent: work * rate * 4,
  };
}

/** Milliseconds of average load until an instant. */
function workUntil(vmId: number, at: number): number {
  return WAVES.reduce((work, { length, part }) => {
    const radians = 2 * Math.PI;
    return work - ((part * length) / radians) * Math.cos((radians * at) / length + vmId);
  }, at);
}

/** Stores the use that a sample VM would have had until now, in milliseconds. */
export async function addSimulatedHistory(db: Db, vm: SimulatedVm, now: number): Promise<void> {
  const last = Math.floor(now / USAGE_INTERVAL_MS) * USAGE_INTERVAL_MS;
  function measured(at: number) {
    return measurementOf(simulatedUse(vm, at), at);
  }
  function growth(from: number, to: number) {
    return growthOf(measured(from), measured(to), vm.created);
  }
  await db
    .insertInto('vm_counters')
    .values({ vm_id: vm.id, ...measured(last) })
    .execute();
  const samples = Array.from({ length: KEPT_MS / USAGE_INTERVAL_MS }, (_, index) => last - index * USAGE_INTERVAL_MS);
  await db
    .insertInto('vm_usage')
    .values(
      samples.map((at) => {
        const { memory, disk } = simulatedUse(vm, at);
        return { vm_id: vm.id, at, ...ratesOf(growth(at - USAGE_INTERVAL_MS, at), vm.cores), mem: countOf(memory), disk: countOf(disk) };
      }),
    )
    .execute();
  const [first, today] = [dayNumberOf(vm.created), dayNumberOf(last)];
  await db
    .insertInto('vm_traffic')
    .values(
      Array.from({ length: today - first + 1 }, (_, index) => {
        const begin = (first + index) * MS_PER_DAY;
        const { received, sent } = growth(Math.max(begin, vm.created), Math.min(begin + MS_PER_DAY, last));
        return { vm_id: vm.id, day: first + index, received: received ?? 0, sent: sent ?? 0 };
      }),
    )
    .execute();
}
