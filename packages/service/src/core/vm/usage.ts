/** The use and the traffic of VMs. */
import type { Selectable } from 'kysely';

import { MS_PER_DAY, utcDay } from '../../rules/day.ts';
import { bytesOf, firstDayOfMonth } from '../../rules/usage.ts';
import { prepared } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';
import type { VmsTable } from '../../store/tables/vms.ts';
import { hostSystemOf } from './change.ts';

/** Milliseconds from one round of measurements to the next. */
export const USAGE_INTERVAL_MS = 300_000;
/** Samples are kept for this time. */
export const KEPT_MS = MS_PER_DAY;
/** Traffic is kept for these months before the current one. */
export const KEPT_MONTHS = 12;
/** Days are shown for these months before the current one. */
const MONTHS_WITH_DAYS = 1;
/** A sample that is older is not the present use. */
const PRESENT_MS = 3 * USAGE_INTERVAL_MS;

/** Forgets the use and the traffic of a VM that is removed. */
export async function forgetUsage(db: Db, vmId: number): Promise<void> {
  for (const table of ['vm_counters', 'vm_usage', 'vm_traffic'] as const) await db.deleteFrom(table).where('vm_id', '=', vmId).execute();
}

/** The use of a VM at one time. Rates are per second. */
export interface UsageSample {
  /** Milliseconds. */
  readonly at: number;
  /** Percent of all its cores. */
  readonly cpu: number | null;
  /** Bytes. */
  readonly mem: number | null;
  readonly disk: number | null;
  readonly disk_read: number | null;
  readonly disk_written: number | null;
  readonly received: number | null;
  readonly sent: number | null;
}

/** The samples of the last 24 hours, the oldest first. */
export async function samplesOf(db: Db, vmId: number, now: number): Promise<UsageSample[]> {
  const rows = await db
    .selectFrom('vm_usage')
    .select(['at', 'cpu', 'mem', 'disk', 'disk_read', 'disk_written', 'received', 'sent'])
    .where('vm_id', '=', vmId)
    .where('at', '>', now - KEPT_MS)
    .orderBy('at')
    .execute();
  return rows.map(inPercent);
}

/** The present use of a VM; undefined if it was not measured lately. */
export async function presentUsage(db: Db, vmId: number, now: number): Promise<UsageSample | undefined> {
  const [row] = await newestSample(db, { vmId, after: now - PRESENT_MS });
  return row && inPercent(row);
}

const newestSample = prepared<{ vmId: number; after: number }, UsageSample>((db, parameter) =>
  db
    .selectFrom('vm_usage')
    .select(['at', 'cpu', 'mem', 'disk', 'disk_read', 'disk_written', 'received', 'sent'])
    .where('vm_id', '=', parameter('vmId'))
    .where('at', '>', parameter('after'))
    .orderBy('at', 'desc')
    .limit(1),
);

function inPercent({ at, cpu, ...others }: UsageSample): UsageSample {
  return { at, cpu: cpu === null ? null : cpu / 100, ...others };
}

/** Bytes. */
interface TrafficSum {
  readonly received: number;
  readonly sent: number;
  readonly total: number;
}

export interface Traffic {
  /** Bytes that the host system includes in each month. Null for no amount. */
  readonly included: number | null;
  /** The current month and those before with traffic, the oldest first, such as `2026-11`. */
  readonly months: ({ readonly month: string } & TrafficSum)[];
  /** Days of the current month and of the one before with traffic, the oldest first, such as `2026-11-05`. */
  readonly days: ({ readonly day: string } & TrafficSum)[];
}

/** The traffic of a VM. */
export async function trafficOf(db: Db, vm: Selectable<VmsTable>, now: number): Promise<Traffic> {
  const { included_traffic: included } = await hostSystemOf(db, vm);
  const rows = await db
    .selectFrom('vm_traffic')
    .select(['day', 'received', 'sent'])
    .where('vm_id', '=', vm.id)
    .where('day', '>=', firstDayOfMonth(now, KEPT_MONTHS))
    .orderBy('day')
    .execute();
  const months = Map.groupBy(rows, ({ day }) => dateOfDay(day).slice(0, 7));
  const firstShown = firstDayOfMonth(now, MONTHS_WITH_DAYS);
  return {
    included: included === null ? null : bytesOf(included),
    months: [...months].map(([month, days]) => ({ month, ...trafficSumOf(days) })),
    days: rows.filter(({ day }) => day >= firstShown).map((row) => ({ day: dateOfDay(row.day), ...trafficSumOf([row]) })),
  };
}

function trafficSumOf(days: readonly Pick<TrafficSum, 'received' | 'sent'>[]): TrafficSum {
  const received = days.reduce((sum, one) => sum + one.received, 0);
  const sent = days.reduce((sum, one) => sum + one.sent, 0);
  return { received, sent, total: received + sent };
}

/** The date of a day since 1970. */
function dateOfDay(day: number): string {
  return utcDay(day * MS_PER_DAY);
}
