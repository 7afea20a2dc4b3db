/** Measures VMs at regular times. */
import type { VmUsage } from '@reseller/adapters';
import { sql } from 'kysely';
import type { Expression } from 'kysely';

import type { Runtime } from '../../delivery/runtime.ts';
import { byDay, firstDayOfMonth, growthOf, nextBase, ratesOf } from '../../rules/usage.ts';
import type { Growth, Measurement } from '../../rules/usage.ts';
import { readSetting, writeSetting } from '../../store/settings.ts';
import type { Db, Store } from '../../store/store.ts';
import { tuningOf } from '../../store/tuning.ts';
import { noteEndedMachines } from './ended-machines.ts';
import { KEPT_MONTHS, KEPT_MS, USAGE_INTERVAL_MS } from './usage.ts';

const MAX_RUN_LENGTH = 100;
/** Of the settings. */
const ROUND = 'usage_round';
const LAST_VM = 99_999;

/** How far a round of measurements is. */
interface Round {
  /** Milliseconds. */
  readonly begun: number;
  /** All VMs up to this one were measured. */
  readonly measured: number;
}

/**
 * Measures all VMs that run, once in each interval, in batches that instances share. A hypervisor that fails is asked again in the next
 * round.
 */
export async function measureVms(runtime: Runtime, onFailure: (error: unknown) => void): Promise<void> {
  const { store, ports, closing } = runtime;
  if (!ports.hypervisor.usage) return;
  const now = ports.clock.now();
  const begun = roundAt(now);
  while (!closing.aborted) {
    const vmIds = await claimBatch(store, begun);
    if (vmIds.length === 0) return;
    let usages: readonly VmUsage[];
    try {
      usages = await ports.hypervisor.usage(vmIds);
    } catch (error) {
      await store.commit(({ db }) => writeRound(db, { begun, measured: LAST_VM }));
      return onFailure(error);
    }
    await storeMeasured(store, { vmIds, now, usages });
    try {
      await noteEndedMachines(runtime, vmIds, new Set(usages.map(({ vmId }) => vmId)));
    } catch (error) {
      onFailure(error);
    }
  }
}

/** When the round of an instant begins. */
function roundAt(now: number): number {
  return Math.floor(now / USAGE_INTERVAL_MS) * USAGE_INTERVAL_MS;
}

/** A query with a row unless the round of an instant is complete. */
export function dueMeasurements(db: Db, now: number): Expression<unknown> {
  const complete: Round = { begun: roundAt(now), measured: LAST_VM };
  const stored = db.selectFrom('settings').select('name').where('name', '=', ROUND).where('value', '=', JSON.stringify(complete));
  return sql`(select 1 where not exists ${stored})`;
}

/** Takes the next VMs of a round. Empty if the round is complete. */
async function claimBatch(store: Store, begun: number): Promise<readonly number[]> {
  const seen = await store.read(readRound);
  if (seen?.begun === begun && seen.measured === LAST_VM) return [];
  return store.commit(async ({ db }) => {
    await store.sharing.lock(db, ROUND);
    const round = await readRound(db);
    const after = round?.begun === begun ? round.measured : 0;
    const { usageBatch } = store.tuning;
    const vms = await db
      .selectFrom('vms')
      .select('id')
      .where('state', '=', 'running')
      .where('id', '>', after)
      .orderBy('id')
      .limit(usageBatch)
      .execute();
    await writeRound(db, { begun, measured: (vms.length === usageBatch && vms.at(-1)?.id) || LAST_VM });
    return vms.map(({ id }) => id);
  });
}

async function readRound(db: Db): Promise<Round | undefined> {
  const text = await readSetting(db, ROUND);
  return text === undefined ? undefined : JSON.parse(text);
}

function writeRound(db: Db, round: Round): Promise<void> {
  return writeSetting(db, ROUND, JSON.stringify(round));
}

interface MeasuredVms {
  readonly vmIds: readonly number[];
  /** Milliseconds. */
  readonly now: number;
  readonly usages: readonly VmUsage[];
}

/** Stores measurements with one statement for each table. A VM that is being changed at this moment is left out. */
function storeMeasured(store: Store, { vmIds, now, usages }: MeasuredVms): Promise<void> {
  const byId = new Map(usages.map((usage) => [usage.vmId, usage]));
  return store.commit(async ({ db }) => {
    const running = db
      .selectFrom('vms')
      .select(['id', 'cores', 'created'])
      .where('id', 'in', vmIds)
      .where('state', '=', 'running')
      .orderBy('id');
    // The lock keeps a removal from deleting the rows of the VM before they are there.
    const vms = await store.sharing.claim(running, 'vms', 'skip').execute();
    const ids = vms.map(({ id }) => id).filter((id) => byId.has(id));
    if (ids.length === 0) return;
    const counted = await db.selectFrom('vm_counters').selectAll().where('vm_id', 'in', ids).execute();
    const before = new Map(counted.map((row) => [row.vm_id, row]));
    const measured = vms.flatMap(({ id, cores, created }) => {
      const usage = byId.get(id);
      if (!usage) return [];
      const measurement = measurementOf(usage, now);
      const growth = growthOf(before.get(id), measurement, created);
      return [{ id, cores, usage, growth, base: nextBase(before.get(id), measurement, created) }];
    });
    await storeCounters(
      db,
      measured.map(({ id, base }) => ({ vm_id: id, ...base })),
    );
    await db
      .insertInto('vm_usage')
      .values(
        measured.map(({ id, cores, usage, growth }) => ({
          vm_id: id,
          at: now,
          ...ratesOf(growth, cores),
          mem: countOf(usage.memory),
          disk: countOf(usage.disk),
        })),
      )
      .onConflict((conflict) => conflict.columns(['vm_id', 'at']).doNothing())
      .execute();
    await addTraffic(db, measured, now);
    await db
      .deleteFrom('vm_usage')
      .where('vm_id', 'in', ids)
      .where('at', '<=', now - KEPT_MS)
      .execute();
    await db.deleteFrom('vm_traffic').where('vm_id', 'in', ids).where('day', '<', firstDayOfMonth(now, KEPT_MONTHS)).execute();
  });
}

/** The counters of a VM at a time in milliseconds. */
export function measurementOf({ run, seconds, cpuSeconds, diskRead, diskWritten, received, sent }: VmUsage, now: number): Measurement {
  return {
    at: now,
    run: run.slice(0, MAX_RUN_LENGTH),
    run_time: countOf(seconds * 1_000) ?? 0,
    cpu_time: countOf(cpuSeconds === null ? null : cpuSeconds * 1_000),
    disk_read: countOf(diskRead),
    disk_written: countOf(diskWritten),
    received: countOf(received),
    sent: countOf(sent),
  };
}

/** A counter beyond 2^53, which no number holds exactly, begins at 0 again. Null for anything that cannot be a counter. */
export function countOf(value: number | null): number | null {
  return value === null || !(value >= 0 && value < Infinity) ? null : Math.round(value) % 2 ** 53;
}

async function storeCounters(db: Db, rows: readonly (Measurement & { readonly vm_id: number })[]): Promise<void> {
  await db
    .insertInto('vm_counters')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('vm_id').doUpdateSet(({ ref }) => ({
        at: ref('excluded.at'),
        run: ref('excluded.run'),
        run_time: ref('excluded.run_time'),
        cpu_time: ref('excluded.cpu_time'),
        disk_read: ref('excluded.disk_read'),
        disk_written: ref('excluded.disk_written'),
        received: ref('excluded.received'),
        sent: ref('excluded.sent'),
      })),
    )
    .execute();
}

/** Adds traffic to the days in which it was counted, as far as they are kept. */
async function addTraffic(db: Db, measured: readonly { readonly id: number; readonly growth: Growth }[], now: number): Promise<void> {
  const oldest = firstDayOfMonth(now, KEPT_MONTHS);
  const rows = measured.flatMap(({ id, growth }) => {
    const [received, sent] = [growth.received, growth.sent].map((bytes) => byDay(bytes ?? 0, growth.from, now));
    const days = new Set([...(received?.keys() ?? []), ...(sent?.keys() ?? [])].filter((day) => day >= oldest));
    return [...days].map((day) => ({ vm_id: id, day, received: received?.get(day) ?? 0, sent: sent?.get(day) ?? 0 }));
  });
  const { statementRows } = tuningOf(db);
  for (let from = 0; from < rows.length; from += statementRows)
    await db
      .insertInto('vm_traffic')
      .values(rows.slice(from, from + statementRows))
      .onConflict((conflict) =>
        conflict.columns(['vm_id', 'day']).doUpdateSet(({ eb, ref }) => ({
          received: eb('vm_traffic.received', '+', ref('excluded.received')),
          sent: eb('vm_traffic.sent', '+', ref('excluded.sent')),
        })),
      )
      .execute();
}
