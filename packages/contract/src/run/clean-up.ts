import { randomUUID } from 'node:crypto';

import { isCreation, isItemWrite, removalOf, resourcesAt, undoOf } from '../document/creation.ts';
import type { OpenApiDocument } from '../document/document.ts';
import type { Operation } from '../document/operation.ts';
import { fillPath, pathParameters } from '../document/path-template.ts';
import { curlCommand } from '../exchange/curl.ts';
import { pathOf } from '../exchange/discover.ts';
import type { PathValues } from '../exchange/discover.ts';
import { isSuccess } from '../exchange/exchange.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { readBody } from '../form/body.ts';
import { removalIn, suspectsIn } from './doubtful.ts';
import { fingerprintOf, isSameResource, sharesUnique } from './fingerprint.ts';
import { basePath } from './guard.ts';
import type { Journal, JournalEntry } from './journal.ts';
import type { Leftover } from './leftovers.ts';
import { nameOfResource, sameValues } from './ownership.ts';
import type { Made, Ownership } from './ownership.ts';
import { isChange } from './step.ts';
import type { Step } from './step.ts';

/** Readable descriptions of the changes that a run leaves on the account. */
export interface Remains {
  readonly left: readonly string[];
  /** Changes that an operation of the document could have undone. */
  readonly unfinished: readonly string[];
}

interface CleanerParts {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  readonly ownership: Ownership;
  readonly journal: Journal | undefined;
  readonly target: URL;
  /** See `accountOf`. */
  readonly account?: string;
  /** What earlier runs did not undo. Default: nothing. */
  readonly leftovers?: readonly Leftover[];
}

const DIFFERS = 'it differs from what the run made';
const NO_UNDO = 'the document has no operation that undoes it';
/** Statuses that mean that there is nothing to undo: not found, in another state, gone. */
const NOTHING_TO_UNDO: ReadonlySet<number> = new Set([404, 409, 410]);

/** Keeps the journal of a run. */
export class Cleaner {
  readonly #parts: CleanerParts;
  /** The leftovers that are not undone yet, by the identifier of their entry, and why not. */
  readonly #remaining: Map<string, Leftover>;
  /** The entries of earlier runs whose resource a read has recognised. */
  readonly #proven = new Set<string>();
  readonly #open = new Map<string, JournalEntry>();
  /** The innermost resource in the path of each change, by the identifier of its entry. */
  readonly #places = new Map<string, string | undefined>();
  readonly #doubts: { readonly entry: JournalEntry; readonly operation: Operation; readonly sent: Readonly<Record<string, unknown>> }[] =
    [];
  /** Changes that cannot be undone. */
  #stays: { readonly line: string; readonly resource: string | undefined }[] = [];

  constructor(parts: CleanerParts) {
    this.#parts = parts;
    this.#remaining = new Map(parts.leftovers?.map((leftover) => [leftover.entry.id, leftover]));
  }

  /** Whether an operation succeeded on a resource in this run and has not been undone. */
  didTo(operation: string, path: PathValues): boolean {
    return [...this.#open.values()].some(
      (entry) =>
        entry.operation === operation &&
        entry.state === 'done' &&
        entry.undo !== undefined &&
        nameOfResource(entry.undo.path) === nameOfResource(path),
    );
  }

  /** Records a change before its request. */
  async before(step: Step, path: PathValues): Promise<JournalEntry | undefined> {
    const { operation, undoes } = step;
    if (!isChange(step)) return undefined;
    const undo = step.isUnknown === true ? removalOf(operation, this.#parts.operations) : undoOf(operation, this.#parts.operations);
    const isKnown = undo !== undefined && depthOf(undo) > 0 && depthOf(undo) === depthOf(operation);
    // After a crash amid a removal, the entry of the creation is enough.
    const isOwnRemoval =
      operation.method === 'DELETE' &&
      [...this.#open.values()].some((other) => other.undo?.operation === operation.id && sameValues(other.undo.path, path));
    const entry: JournalEntry = {
      id: undoes ?? randomUUID(),
      target: this.#parts.target.href,
      operation: operation.id,
      state: 'intended',
      undo: undoes === undefined ? (isKnown ? { operation: undo.id, path } : undefined) : { operation: operation.id, path },
      made: Object.keys(path).length > 0 ? nameOfResource(path) : undefined,
      at: new Date().toISOString(),
      account: this.#parts.account,
    };
    this.#places.set(entry.id, resourcesAt(operation.path, path).at(-1));
    return isOwnRemoval && undoes === undefined ? entry : this.#record(entry);
  }

  /** Records the result of a change; `made` is what it made. */
  async after(intended: JournalEntry | undefined, step: Step, exchange: Exchange, made: Made | undefined): Promise<void> {
    if (intended === undefined) return;
    const entry = { ...intended, at: new Date().toISOString() };
    const { operation } = step;
    const isRemoval = operation.method === 'DELETE';
    const isGone = isRemoval && (exchange.status === 404 || exchange.status === 410);
    if (!isSuccess(exchange.status) && !isGone) {
      // A failed undo of an earlier run stays open for the next run, unless there is nothing to undo.
      const isOpen = step.undoes !== undefined && !NOTHING_TO_UNDO.has(exchange.status);
      return void (await this.#record({ ...entry, state: isOpen ? 'done' : 'closed' }));
    }
    const resource = resourcesAt(operation.path, pathOf(exchange)).at(-1);
    // The removal of a resource also removes its changes and subresources.
    if (isRemoval) this.#stays = this.#stays.filter((stay) => !isWithin(stay.resource, resource));
    const undone = [...this.#open.values()].filter(
      ({ id, undo }) => id !== entry.id && undo?.operation === operation.id && nameOfResource(undo.path) === entry.made,
    );
    for (const other of undone) await this.#record({ ...other, state: 'closed' });
    // So does it with what the run made below it, also where the response did not name it.
    const below =
      isRemoval && undone.length > 0
        ? [...this.#open.values()].filter(({ id }) => id !== entry.id && isWithin(this.#places.get(id), resource))
        : [];
    for (const other of below) await this.#record({ ...other, state: 'closed' });
    // A resource that the run made and removed again needs no undo.
    if (isGone || (isRemoval && undone.length > 0)) return void (await this.#record({ ...entry, undo: undefined, state: 'closed' }));
    if (made !== undefined && (made.isNew || !isItemWrite(operation))) return this.#recordMade(entry, exchange, made);
    const undo = undoOf(operation, this.#parts.operations);
    if (
      step.undoes === undefined &&
      undo !== undefined &&
      (entry.undo?.operation === undo.id || isCreation(operation, this.#parts.operations))
    )
      return void (await this.#record({ ...entry, state: 'done' }));
    const isOurs = isRemoval || step.purpose === 'undo' || this.#parts.ownership.owns(operation, pathOf(exchange));
    return isOurs ? void (await this.#record({ ...entry, undo: undefined, state: 'closed' })) : this.#recordStay(entry, resource);
  }

  /** Notes a creation of which no response tells whether it took place. */
  doubt(entry: JournalEntry | undefined, { operation, method }: Step, body: string | undefined): void {
    if (entry === undefined || method !== operation.method || removalOf(operation, this.#parts.operations) === undefined) return;
    this.#doubts.push({ entry, operation, sent: readBody(operation, body ?? '').values });
  }

  /** Whether no response told whether a creation took place. */
  hasDoubt({ id }: Operation): boolean {
    return this.#doubts.some(({ operation }) => operation.id === id);
  }

  /** Whether a list can show what a doubtful creation made. */
  isDoubtful(list: Operation): boolean {
    return this.#doubts.some(({ operation }) => removalIn(list, operation, this.#parts.operations) !== undefined);
  }

  /** Looks in a list for what doubtful creations made. What bears a name of the run is removed with what the run made; the rest is told. */
  async look(list: Exchange, exchanges: readonly Exchange[]): Promise<void> {
    const { ownership, operations, document } = this.#parts;
    const taken = new Set<string>();
    for (const { entry, operation, sent } of this.#doubts) {
      const removal = removalIn(list.operation, operation, operations);
      if (removal === undefined) continue;
      const suspect = suspectsIn({ document, exchanges }, list, removal, sent).find(
        ({ path }) => !taken.has(nameOfResource(path)) && !ownership.owns(removal, path),
      );
      if (suspect === undefined) continue;
      const { path, isOurs } = suspect;
      taken.add(nameOfResource(path));
      if (isOurs) ownership.claim(removal, path);
      await this.#record({
        ...entry,
        state: isOurs ? 'done' : 'intended',
        undo: { operation: removal.id, path },
        made: nameOfResource(path),
      });
    }
  }

  /** Called when there is no response; `isUnsent` means that the request was not sent. */
  async lost(entry: JournalEntry | undefined, isUnsent: boolean): Promise<void> {
    if (entry !== undefined && isUnsent) await this.#record({ ...entry, state: 'closed', at: new Date().toISOString() });
  }

  /** Looks at a read: it can show that a resource still is what a run made. */
  async saw(step: Step, exchange: Exchange, path: PathValues): Promise<void> {
    if (step.effect !== 'reads' || step.method !== 'GET') return;
    const { status, operation } = exchange;
    const leftover = step.undoes === undefined ? undefined : this.#remaining.get(step.undoes);
    if (leftover !== undefined) {
      const { entry } = leftover;
      if (NOTHING_TO_UNDO.has(status)) return void (await this.#record({ ...entry, state: 'closed', at: new Date().toISOString() }));
      const read = isSuccess(status) ? fingerprintOf(this.#parts.document, exchange) : undefined;
      const isProven = read !== undefined && entry.fingerprint !== undefined && isSameResource(entry.fingerprint, read);
      const problem = read === undefined ? `its read returned ${status}, so it cannot be recognised` : DIFFERS;
      if (isProven) this.#proven.add(entry.id);
      this.#remaining.set(entry.id, { ...leftover, problem: isProven ? undefined : problem });
      return;
    }
    for (const entry of this.#open.values()) {
      const undo = this.#parts.operations.find(({ id }) => id === entry.undo?.operation);
      const isItem =
        undo?.method === 'DELETE' && undo.path === operation.path && nameOfResource(entry.undo?.path ?? {}) === nameOfResource(path);
      const read = isItem && entry.state === 'done' && isSuccess(status) ? fingerprintOf(this.#parts.document, exchange) : undefined;
      if (read === undefined || JSON.stringify(read) === JSON.stringify(entry.fingerprint)) continue;
      // The read can show another resource only when the service has begun again in between.
      const { fingerprint } = entry;
      if (fingerprint === undefined || fingerprint.unique.length === 0 || sharesUnique(fingerprint, read))
        await this.#record({ ...entry, fingerprint: read });
    }
  }

  /** Whether a step may be sent. False for the removal of what may be another resource than an earlier run made. */
  mayUndo({ undoes, purpose, operation }: Step): boolean {
    return undoes === undefined || purpose === 'leftover' || operation.method !== 'DELETE' || this.#proven.has(undoes);
  }

  /** Closes the entries of earlier runs that are too old to be undone; this run lists them for the last time. */
  async forgetOld(): Promise<void> {
    for (const { entry, isOld } of this.#parts.leftovers ?? []) if (isOld) await this.#parts.journal?.record({ ...entry, state: 'stays' });
  }

  /** Returns the changes that the run leaves behind. */
  finish(): Remains {
    const unfinished: string[] = [];
    const earlier = [...this.#remaining.values()].map(({ entry, problem = 'it was not undone' }) => {
      const isForeign = problem === DIFFERS;
      const undo = this.#parts.operations.find(({ id }) => id === entry.undo?.operation);
      const how =
        undo === undefined || entry.undo === undefined
          ? 'look for it, and remove it if it exists'
          : `if it is yours to remove, run: ${undoCommand(undo, entry.undo.path, this.#parts.target)}`;
      const line = `${entry.operation}${entry.made === undefined ? '' : ` (${entry.made})`} of an earlier run: ${problem}; ${how}`;
      if (!isForeign) unfinished.push(line);
      return line;
    });
    const left = [...this.#open.values()].map((entry) => {
      const { operation: id, made: what, state } = entry;
      const operation = this.#parts.operations.find((one) => one.id === id);
      const undo =
        operation === undefined ? undefined : (undoOf(operation, this.#parts.operations) ?? removalOf(operation, this.#parts.operations));
      const why = state === 'intended' ? 'its response did not tell whether it happened' : 'it was not undone';
      const line = `${id}${what === undefined ? '' : ` (${what})`}: ${why}; ${undo === undefined ? NO_UNDO : remedy(undo, entry, this.#parts.target)}`;
      if (undo !== undefined) unfinished.push(line);
      return line;
    });
    return { left: distinctLines([...earlier, ...this.#stays.map(({ line }) => line), ...left]), unfinished: distinctLines(unfinished) };
  }

  async #record(entry: JournalEntry): Promise<JournalEntry> {
    const { journal } = this.#parts;
    if (journal === undefined) throw new Error('A run that changes something needs a journal.');
    await journal.record(entry);
    this.#remaining.delete(entry.id);
    if (entry.state === 'closed' || entry.state === 'stays') this.#open.delete(entry.id);
    else this.#open.set(entry.id, entry);
    return entry;
  }

  /** Records a change that the run cannot undo. */
  async #recordStay(entry: JournalEntry, resource: string | undefined, why = NO_UNDO): Promise<void> {
    await this.#record({ ...entry, undo: undefined, state: 'stays' });
    this.#stays.push({ line: `${entry.operation}${entry.made === undefined ? '' : ` (${entry.made})`}: ${why}`, resource });
  }

  /** Records what a request made. */
  async #recordMade(entry: JournalEntry, exchange: Exchange, made: Made): Promise<void> {
    const { operation } = exchange;
    const removal = removalOf(operation, this.#parts.operations);
    const path = removal === undefined ? undefined : made.pathFor(removal);
    const named = { ...entry, made: made.name };
    if (!made.isNew) {
      const how =
        removal === undefined || path === undefined ? '' : `; if this run made it, run: ${undoCommand(removal, path, this.#parts.target)}`;
      const why = `the response does not show that it is new, so this run did not remove it${how}`;
      return this.#recordStay(named, made.resource, why);
    }
    if (removal === undefined || path === undefined) return this.#recordStay(named, made.resource);
    const fingerprint = fingerprintOf(this.#parts.document, exchange);
    await this.#record({ ...named, state: 'done', undo: { operation: removal.id, path }, made: nameOfResource(path), fingerprint });
  }
}

function depthOf({ path }: Operation): number {
  return pathParameters(path).length;
}

function isWithin(resource: string | undefined, above: string | undefined): boolean {
  return resource !== undefined && above !== undefined && (resource === above || resource.startsWith(`${above}/`));
}

/** Each line once, with the number of its occurrences. */
function distinctLines(lines: readonly string[]): readonly string[] {
  return [...Map.groupBy(lines, (line) => line)].map(([line, all]) => (all.length === 1 ? line : `${line} (${all.length} times)`));
}

/** How to undo a change: the command, if the resource is known. */
function remedy(undo: Operation, { undo: known }: JournalEntry, target: URL): string {
  if (known === undefined) return `look for it, and undo it with ${undo.id} (${undo.method} ${undo.path})`;
  return `the next run in full mode tries again, or run: ${undoCommand(undo, known.path, target)}`;
}

function undoCommand(undo: Operation, path: PathValues, target: URL): string {
  const sent = {
    method: undo.method,
    url: `${target.origin}${basePath(target)}${fillPath(undo.path, path)}`,
    headers: {},
    body: undefined,
    credential: 'account' as const,
  };
  return curlCommand(undo, sent);
}
