/** VMs use their network, and the traffic that the service shows is what the hypervisor has counted. */
import type { VmUsage } from '@reseller/adapters';
import { expect } from 'vitest';

import type { ModelAccount, ModelVm } from './model.ts';
import { buyVm } from './purchases.ts';
import type { Simulation } from './simulation.ts';

/** Bytes that a VM receives or sends at once. */
const MAX_BYTES = 5_000_000;
const DAY_MS = 86_400_000;

/** A VM receives and sends. Sometimes its counters have begun again. */
export async function useNetwork(sim: Simulation): Promise<void> {
  const { dice, model, world } = sim;
  const vm = dice.pickAny(model.vms.filter(({ id, state }) => state === 'running' && world.hypervisor.vms.has(id)).slice(-25));
  if (!vm) return buyVm(sim);
  const before = world.hypervisor.used.get(vm.id);
  const isNewRun = dice.chance(0.15);
  const { received = 0, sent = 0, run = 'run-0' } = isNewRun ? { run: `run-${sim.steps.length}` } : (before ?? {});
  const more = [dice.integer(0, MAX_BYTES), dice.integer(0, MAX_BYTES)] as const;
  sim.describe(`VM ${vm.id} receives ${more[0]} and sends ${more[1]} bytes${isNewRun ? ' in a new run' : ''}`);
  world.hypervisor.use(vm.id, { run, received: (received ?? 0) + more[0], sent: (sent ?? 0) + more[1] });
}

/** Forgets the measurements of this instant that the service has left out. On PostgreSQL, it skips a VM that another transaction is changing. */
export async function forgetSkipped({ client, clock, engine, world }: Simulation): Promise<void> {
  if (engine !== 'postgres') return;
  const now = clock.now();
  const rows = await client.store().read((db) => db.selectFrom('vm_usage').select('vm_id').where('at', '=', now).execute());
  const stored = new Set(rows.map(({ vm_id }) => vm_id));
  for (const [vmId, reports] of world.hypervisor.reports) {
    if (stored.has(vmId)) continue;
    const earlier = reports.filter(({ at }) => at !== now);
    world.hypervisor.reports.set(vmId, earlier);
  }
}

/** Compares the traffic of a VM by month, and the times of its samples. */
export async function checkUsage({ client, clock, world }: Simulation, account: ModelAccount, vm: ModelVm): Promise<void> {
  const path = { vmid: String(vm.id) };
  const reports = world.hypervisor.reports.get(vm.id) ?? [];
  const { list } = (await client.call(account, 'getVmUsage', { path })).data();
  const times = reports.map(({ at }) => at).filter((at) => at > clock.now() - DAY_MS);
  expect(
    list.map(({ at }) => Date.parse(at)),
    `samples of VM ${vm.id}`,
  ).toEqual(times);
  const { months } = (await client.call(account, 'getVmTraffic', { path })).data();
  const shown = new Map(months.map(({ month, total }) => [month, total]));
  const expected = trafficByMonth(reports);
  const oldest = new Date(clock.now());
  oldest.setUTCFullYear(oldest.getUTCFullYear() - 1, oldest.getUTCMonth(), 1);
  for (const month of new Set([...shown.keys(), ...expected.keys()])) {
    const bytes = month < monthOf(oldest.getTime()) ? 0 : (expected.get(month) ?? 0);
    // Each measurement across midnights rounds both directions of each day.
    expect(Math.abs((shown.get(month) ?? 0) - bytes), `traffic of VM ${vm.id} in ${month}`).toBeLessThanOrEqual(2 * reports.length);
  }
}

/** Bytes by month, with fractions: each growth belongs to the months of its time by their share. */
function trafficByMonth(reports: readonly { readonly at: number; readonly usage: VmUsage }[]): ReadonlyMap<string, number> {
  const months = new Map<string, number>();
  for (const [index, { at, usage }] of reports.entries()) {
    const before = reports[index - 1];
    const isSameRun = before?.usage.run === usage.run;
    const bytes = totalOf(usage) - (isSameRun ? totalOf(before.usage) : 0);
    let from = isSameRun ? before.at : at;
    const length = at - from;
    while (from < at) {
      const date = new Date(from);
      const end = Math.min(at, Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1));
      months.set(monthOf(from), (months.get(monthOf(from)) ?? 0) + (bytes * (end - from)) / length);
      from = end;
    }
    if (length === 0) months.set(monthOf(at), (months.get(monthOf(at)) ?? 0) + bytes);
  }
  return months;
}

function totalOf({ received, sent }: VmUsage): number {
  return (received ?? 0) + (sent ?? 0);
}

function monthOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 7);
}
