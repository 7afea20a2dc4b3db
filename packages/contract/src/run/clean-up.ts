import { randomUUID } from 'node:crypto';

import type { OpenApiDocument } from '../document/document.ts';
import type { Operation } from '../document/operation.ts';
import { fillPath } from '../document/path-template.ts';
import type { Validator } from '../document/validator.ts';
import { curlCommand } from '../exchange/curl.ts';
import { discoverBelow, discoverCreated } from '../exchange/discover.ts';
import type { PathValues } from '../exchange/discover.ts';
import { isSuccess } from '../exchange/exchange.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { fingerprintOf, isSameResource, sharesUnique } from './fingerprint.ts';
import { basePath } from './guard.ts';
import type { Guard } from './guard.ts';
import type { Journal, JournalEntry } from './journal.ts';
import type { Leftover } from './leftovers.ts';
import type { Step } from './step.ts';
import { undoOf } from './undo.ts';

/** Keeps the journal of a run and the list of resources that the run created. */
export interface Cleaner {
  /**
   * Path values of resources that the run created, and of their subresources, on which an operation can run.
   *
   * @param responses The responses so far.
   */
  owned(operation: Operation, exchanges: readonly Exchange[]): readonly PathValues[];
  /** Whether an operation succeeded on a resource in this run and has not been undone. */
  didTo(operation: string, path: PathValues): boolean;
  /** Records a change before its request. */
  before(step: Step, path: PathValues): Promise<JournalEntry | undefined>;
  after(entry: JournalEntry | undefined, step: Step, exchange: Exchange): Promise<void>;
  /** Called when there is no response; `isUnsent` means that the request was not sent. */
  lost(entry: JournalEntry | undefined, isUnsent: boolean): Promise<void>;
  /** Looks at a read: it can show that a resource still is what a run made. */
  saw(step: Step, exchange: Exchange, path: PathValues): Promise<void>;
  /** Whether a step may be sent. False for the removal of what may be another resource than an earlier run made. */
  mayUndo(step: Step): boolean;
  /** Closes the entries of earlier runs that are too old to be undone; this run lists them for the last time. */
  forgetOld(): Promise<void>;
  /** Returns the changes that the run leaves behind. */
  finish(): Remains;
}

/** Readable descriptions of the changes that a run leaves on the account. */
export interface Remains {
  readonly left: readonly string[];
  /** Changes that an operation of the document could have undone. */
  readonly unfinished: readonly string[];
}

interface Parts {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  readonly validator: Validator;
  readonly guard: Guard;
  readonly journal: Journal | undefined;
  readonly target: URL;
  /** See `accountOf`. */
  readonly account?: string;
  /** What earlier runs did not undo. Default: nothing. */
  readonly leftovers?: readonly Leftover[];
}

/** Statuses that mean that there is nothing to undo: not found, in another state, gone. */
const NOTHING_TO_UNDO: ReadonlySet<number> = new Set([404, 409, 410]);

export function createCleaner({ document, operations, validator, guard, journal, target, account, leftovers = [] }: Parts): Cleaner {
  /** The leftovers that are not undone yet, by the identifier of their entry, and why not. */
  const remaining = new Map(leftovers.map((leftover) => [leftover.entry.id, { ...leftover, isProven: false }]));
  const made: Exchange[] = [];
  const open = new Map<string, JournalEntry>();
  /** Changes that cannot be undone. */
  let stays: { readonly line: string; readonly made: string | undefined }[] = [];

  async function record(entry: JournalEntry): Promise<JournalEntry> {
    if (journal === undefined) throw new Error('A run that changes something needs a journal.');
    await journal.record(entry);
    remaining.delete(entry.id);
    if (entry.state === 'closed' || entry.state === 'stays') open.delete(entry.id);
    else open.set(entry.id, entry);
    if (entry.state === 'stays')
      stays.push({
        line: `${entry.operation}${entry.made === undefined ? '' : ` (${entry.made})`}: the document has no operation that undoes it`,
        made: entry.made,
      });
    return entry;
  }

  function pathFor(operation: Operation, exchange: Exchange): PathValues | undefined {
    return discoverCreated({ document, validator, operation, exchanges: [exchange] });
  }

  function nameOf(exchange: Exchange): string | undefined {
    const path = operations
      .filter(({ path: at }) => at.includes('{'))
      .map((operation) => pathFor(operation, exchange))
      .find((found) => found !== undefined);
    return path === undefined ? undefined : textOf(path);
  }

  return {
    owned(operation, exchanges) {
      const created = made.map((exchange) => pathFor(operation, exchange)).filter((path) => path !== undefined);
      const below = discoverBelow({ document, validator, operation, exchanges }, guard.owns);
      for (const path of below) guard.own(path);
      return [...created, ...below];
    },
    didTo: (operation, path) =>
      [...open.values()].some(
        (entry) =>
          entry.operation === operation && entry.state === 'done' && entry.undo !== undefined && textOf(entry.undo.path) === textOf(path),
      ),
    async before(step, path) {
      // A request that the service should refuse can create something too.
      const canCreate = !step.operation.readOnly && step.method === step.operation.method && Object.keys(path).length === 0;
      if (step.effect === 'reads' && !canCreate) return undefined;
      const undo = undoOf(step.operation, operations);
      const isKnown = undo !== undefined && Object.keys(path).length > 0;
      return record({
        id: step.undoes ?? randomUUID(),
        target: target.href,
        operation: step.operation.id,
        state: 'intended',
        undo: step.undoes === undefined ? (isKnown ? { operation: undo.id, path } : undefined) : { operation: step.operation.id, path },
        made: Object.keys(path).length > 0 ? textOf(path) : undefined,
        at: new Date().toISOString(),
        account,
      });
    },
    async after(entry, step, exchange) {
      if (entry === undefined) return;
      const at = new Date().toISOString();
      if (!isSuccess(exchange.status)) {
        // A failed undo of an earlier run stays open for the next run, unless there is nothing to undo.
        const isOpen = step.undoes !== undefined && !NOTHING_TO_UNDO.has(exchange.status);
        return void (await record({ ...entry, state: isOpen ? 'done' : 'closed', at }));
      }
      const isUndo = step.purpose === 'undo' || step.purpose === 'remove';
      // The removal of a resource also removes its changes and subresources.
      if (step.purpose === 'remove') stays = stays.filter(({ made: what }) => what === undefined || !isPartOf(what, entry.made));
      for (const other of open.values()) {
        const closes = other.id !== entry.id && other.undo?.operation === step.operation.id && textOf(other.undo.path) === entry.made;
        if (closes) await record({ ...other, state: 'closed', at });
      }
      made.push(exchange);
      for (const operation of operations) {
        const path = pathFor(operation, exchange);
        if (path !== undefined) guard.own(path);
      }
      const undo = undoOf(step.operation, operations);
      const path = undo === undefined ? undefined : (entry.undo?.path ?? pathFor(undo, exchange));
      if (undo !== undefined && path !== undefined && step.undoes === undefined) {
        const fingerprint = undo.method === 'DELETE' ? fingerprintOf(document, exchange) : undefined;
        return void (await record({ ...entry, state: 'done', undo: { operation: undo.id, path }, made: textOf(path), at, fingerprint }));
      }
      if (isUndo) return void (await record({ ...entry, state: 'closed', at }));
      const what = nameOf(exchange) ?? entry.made;
      // If an operation could undo it, the entry stays open, although the resource is unknown.
      return void (await record({ ...entry, state: undo === undefined ? 'stays' : 'done', made: what, at }));
    },
    async lost(entry, isUnsent) {
      if (entry !== undefined && isUnsent) await record({ ...entry, state: 'closed', at: new Date().toISOString() });
    },
    async saw(step, exchange, path) {
      if (step.effect !== 'reads' || step.method !== 'GET') return;
      const { status, operation } = exchange;
      const leftover = step.undoes === undefined ? undefined : remaining.get(step.undoes);
      if (leftover !== undefined) {
        const { entry } = leftover;
        if (NOTHING_TO_UNDO.has(status)) return void (await record({ ...entry, state: 'closed', at: new Date().toISOString() }));
        const read = isSuccess(status) ? fingerprintOf(document, exchange) : undefined;
        const isProven = read !== undefined && entry.fingerprint !== undefined && isSameResource(entry.fingerprint, read);
        const problem =
          read === undefined ? `its read returned ${status}, so it cannot be recognised` : 'it differs from what the run made';
        remaining.set(entry.id, { ...leftover, isProven, problem: isProven ? undefined : problem });
        return;
      }
      for (const entry of open.values()) {
        const undo = operations.find(({ id }) => id === entry.undo?.operation);
        const isItem = undo?.method === 'DELETE' && undo.path === operation.path && textOf(entry.undo?.path ?? {}) === textOf(path);
        const read = isItem && entry.state === 'done' && isSuccess(status) ? fingerprintOf(document, exchange) : undefined;
        if (read === undefined || JSON.stringify(read) === JSON.stringify(entry.fingerprint)) continue;
        // The read can show another resource only when the service has begun again in between.
        const { fingerprint } = entry;
        if (fingerprint === undefined || fingerprint.unique.length === 0 || sharesUnique(fingerprint, read))
          await record({ ...entry, fingerprint: read });
      }
    },
    mayUndo: ({ undoes, purpose, operation }) =>
      undoes === undefined || purpose === 'leftover' || operation.method !== 'DELETE' || remaining.get(undoes)?.isProven === true,
    async forgetOld() {
      for (const { entry, isOld } of leftovers) if (isOld) await journal?.record({ ...entry, state: 'stays' });
    },
    finish() {
      const unfinished: string[] = [];
      const earlier = [...remaining.values()].map(({ entry, problem = 'it was not undone' }) => {
        const undo = operations.find(({ id }) => id === entry.undo?.operation);
        const how =
          undo === undefined || entry.undo === undefined
            ? 'look for it, and remove it if it exists'
            : `if it is yours to remove, run: ${undoCommand(undo, entry.undo.path, target)}`;
        return `${entry.operation}${entry.made === undefined ? '' : ` (${entry.made})`} of an earlier run: ${problem}; ${how}`;
      });
      const left = [...open.values()].map((entry) => {
        const { operation: id, made: what, state } = entry;
        const operation = operations.find((one) => one.id === id);
        const undo = operation === undefined ? undefined : undoOf(operation, operations);
        const why = state === 'intended' ? 'its response was lost, so it may have happened' : 'it was not undone';
        const line = `${id}${what === undefined ? '' : ` (${what})`}: ${why}; ${undo === undefined ? 'the document has no operation that undoes it' : remedy(undo, entry, target)}`;
        if (undo !== undefined) unfinished.push(line);
        return line;
      });
      return { left: [...new Set([...earlier, ...stays.map(({ line }) => line), ...left])], unfinished: [...new Set(unfinished)] };
    },
  };
}

/** Whether a resource is the same as another or below it: "domain a.net, record_id 7" is below "domain a.net". */
function isPartOf(thing: string, other: string | undefined): boolean {
  return thing === other || thing.startsWith(`${other}, `);
}

function textOf(path: PathValues): string {
  return Object.entries(path)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
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
