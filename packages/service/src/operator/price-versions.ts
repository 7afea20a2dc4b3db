/** Lists, schedules and withdraws the prices of host systems and of TLDs. */
import { brokenPriceRise } from '../core/accounting/price-rise.ts';
import { versionStateAt } from '../rules/in-force.ts';
import type { Dated } from '../rules/in-force.ts';
import { toInstant } from '../rules/instants.ts';
import type { Db } from '../store/store.ts';
import { cursorKeys, pageOf } from './paging.ts';
import type { Order, PageQuery } from './paging.ts';
import { notFound, OperatorProblem, validationProblem } from './problem.ts';

/** A date for which prices are to be scheduled. */
export interface ScheduleRequest {
  /** The host system or the TLD, as the beginning of a sentence. */
  readonly subject: string;
  /** Its prices. */
  readonly versions: readonly Dated[];
  /** Undefined to schedule prices for the current instant. */
  readonly wanted: string | undefined;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * The instant from which prices apply, in milliseconds.
 *
 * @throws OperatorProblem 422 if it is in the past, 409 if other prices begin then.
 */
export function newDateOf({ subject, versions, wanted, now }: ScheduleRequest): number {
  const validFrom = wanted === undefined ? now : Date.parse(wanted);
  if (validFrom < now) {
    const detail = `must not be in the past: it is ${toInstant(now)}. Leave it out for prices from now on`;
    throw validationProblem([{ pointer: '#/valid_from', detail }]);
  }
  if (versions.some((version) => version.validFrom === validFrom)) {
    const detail = `${subject} already has prices from ${toInstant(validFrom)} on. Withdraw them first, or choose another instant.`;
    throw new OperatorProblem('wrong-state', detail);
  }
  return validFrom;
}

/** @throws OperatorProblem 422 if a month of an account costs too much to bill at prices that are stored already. */
export async function assertPricesCanBeBilled(
  db: Db,
  paying: Parameters<typeof brokenPriceRise>[1],
  { pointer, now }: { pointer: string; now: number },
): Promise<void> {
  const broken = await brokenPriceRise(db, paying, now);
  if (broken !== undefined) throw validationProblem([{ pointer, detail: `must be lower: ${broken}` }]);
}

/** The prices of a host system or of a TLD, found by the path of a request. `Shown` is a version as the API returns it. */
export interface PriceList<Path, Version extends Dated, Shown> {
  /** @throws OperatorProblem 404 if there is no price list. */
  versionsOf(db: Db, path: Path): Promise<readonly Version[]>;
  toVersion(versions: readonly Version[], version: Version, now: number): Shown;
  remove(db: Db, path: Path, validFrom: number, now: number): Promise<void>;
}

interface VersionCall<Path> {
  readonly path: Path;
  /** Milliseconds. */
  readonly now: number;
}

const order: Order = { columns: { valid_from: 'integer' }, direction: 'desc' };

/** Lists the versions, the latest first. */
export async function listVersions<Path, Version extends Dated, Shown>(
  db: Db,
  { path, query, now }: VersionCall<Path> & { readonly query: PageQuery },
  { versionsOf, toVersion }: PriceList<Path, Version, Shown>,
): Promise<{ items: Shown[]; next_cursor: string | null }> {
  const versions = await versionsOf(db, path);
  const [before = Infinity] = cursorKeys(order, query);
  const following = versions.toReversed().filter(({ validFrom }) => validFrom < Number(before));
  const { rows, next_cursor } = pageOf(following, query, ({ validFrom }) => [validFrom]);
  return { items: rows.map((version) => toVersion(versions, version, now)), next_cursor };
}

/** The version that a withdrawal names. Undefined if there is none. */
export async function versionBeforeWithdrawal<Path, Version extends Dated, Shown>(
  db: Db,
  { path, now }: VersionCall<NoInfer<Path> & VersionPath>,
  { versionsOf, toVersion }: PriceList<Path, Version, Shown>,
): Promise<Shown | undefined> {
  const versions = await versionsOf(db, path);
  const version = versionFrom(versions, path);
  return version && toVersion(versions, version, now);
}

/**
 * Removes scheduled prices.
 *
 * @throws OperatorProblem 404 if no prices have the date, 409 if they are or were in force.
 */
export async function withdrawVersion<Path, Version extends Dated, Shown>(
  db: Db,
  { path, now }: VersionCall<NoInfer<Path> & VersionPath>,
  { versionsOf, remove }: PriceList<Path, Version, Shown>,
): Promise<undefined> {
  const versions = await versionsOf(db, path);
  const version = versionFrom(versions, path);
  if (!version) throw notFound('price with this date');
  if (versionStateAt(versions, version, now) !== 'scheduled') {
    const since = toInstant(version.validFrom);
    const detail = `These prices have applied since ${since}. Only scheduled prices can be withdrawn; schedule other prices instead.`;
    throw new OperatorProblem('wrong-state', detail);
  }
  await remove(db, path, version.validFrom, now);
  return undefined;
}

interface VersionPath {
  readonly valid_from: string;
}

function versionFrom<Version extends Dated>(versions: readonly Version[], path: VersionPath): Version | undefined {
  return versions.find(({ validFrom }) => validFrom === Date.parse(path.valid_from));
}
