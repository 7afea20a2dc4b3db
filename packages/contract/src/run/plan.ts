import { isCreation, isItemWrite, isUndo, itemIn, itemShapeOf, removalOf, undoOf } from '../document/creation.ts';
import type { Operation } from '../document/operation.ts';
import { hasPathParameters, pathParameters } from '../document/path-template.ts';
import type { Purpose } from '../exchange/exchange.ts';
import { pagingOf } from '../exchange/paging.ts';
import { allowedChanges } from './allowed.ts';
import { removalIn } from './doubtful.ts';
import { MAX_POLLS } from './follow.ts';
import { leftoversOf } from './leftovers.ts';
import type { Leftover } from './leftovers.ts';
import { madeUpPath } from './made-up.ts';
import { sameValues } from './ownership.ts';
import { base, formOf, isSendable, namedPaths } from './planning.ts';
import type { Mode, Planning, PlanOptions } from './planning.ts';
import { brokenParameterSteps, brokenSteps, keySteps, methodSteps, nulSteps, unknownSteps } from './probe-steps.ts';
import { sendableOf } from './sendable.ts';
import { sourcesFor } from './sources.ts';
import { isChange, PHASES } from './step.ts';
import type { Step, StepForm } from './step.ts';
import {
  acceptSteps,
  alternativeSteps,
  headerSteps,
  otherBodySteps,
  otherForms,
  preconditionSteps,
  showsProgress,
  singleFieldSteps,
  variationSteps,
} from './valid-steps.ts';

/** Every request that may be sent, and the reasons why other operations are not called. */
export interface Plan {
  readonly steps: readonly Step[];
  readonly withheld: ReadonlyMap<string, string>;
  /** Why the run may use each operation that changes something. */
  readonly allowed: ReadonlyMap<string, string>;
  /** The withheld operations for which the document does not provide a request. */
  readonly unsendable: ReadonlySet<string>;
  /** What earlier runs did not undo. */
  readonly leftovers: readonly Leftover[];
  /** The operations that the run judges, when it is restricted; undefined for all. */
  readonly wanted: ReadonlySet<string> | undefined;
}

/** The maximum number of requests of a read-only run for each operation. */
export const MAX_READ_ONLY_REQUESTS = 5;
/** The number of resources that a run reads with one operation. */
export const MAX_SAMPLES_READ = 2;
/** The number in full mode: one resource that the run created, and three that exist. */
export const MAX_SAMPLES_FULL = 4;
/** The maximum number of pages that a full run reads of one list. */
const MAX_PAGES = 8;
/** How many resources are tried until a response has content. In full mode, the first ones are those that the run created. */
const MAX_TRIES: Readonly<Record<Mode, number>> = { 'read-only': 3, full: 6 };

/** The maximum number of requests of a plan. */
export function countRequests(steps: readonly Step[], mode: Mode): number {
  const sums = new Map<string, number>();
  for (const { operation, times } of steps) sums.set(operation.id, (sums.get(operation.id) ?? 0) + times);
  const max = mode === 'read-only' ? MAX_READ_ONLY_REQUESTS : Infinity;
  return [...sums.values()].reduce((sum, one) => sum + Math.min(one, max), 0);
}

/** The named operations, and those that undo their changes. */
function wantedFrom({ only, also, mode }: PlanOptions, operations: readonly Operation[]): ReadonlySet<string> {
  const named = operations.filter(({ id }) => only.has(id) || also.has(id));
  const undoing =
    mode === 'full' ? named.flatMap((operation) => [undoOf(operation, operations)?.id, removalOf(operation, operations)?.id]) : [];
  return new Set([...named.map(({ id }) => id), ...undoing.filter((id) => id !== undefined)]);
}

const NOT_LISTED = 'it is not listed in --only';

/** Plans all requests of a run before the first is sent. */
export function makePlan(options: PlanOptions): Plan {
  const { operations, mode, only, also, unusable, prepare = () => true } = options;
  const readable = operations.filter(({ id }) => !unusable.has(id));
  const wanted = only.size === 0 ? undefined : wantedFrom(options, readable);
  const named = readable.filter(({ id }) => wanted?.has(id));
  const sources = sourcesFor(named, wanted === undefined ? [] : readable);
  // A document may have many more operations than a run touches.
  const touched = readable.filter(({ id }) => wanted === undefined || wanted.has(id) || sources.has(id));
  function isSent({ readOnly }: Operation): boolean {
    return mode === 'full' || readOnly;
  }
  const usable = touched.filter((operation) =>
    prepare(operation, 'references', 'parameters', ...(isSent(operation) ? ['body' as const] : [])),
  );
  const sendable = new Map(usable.filter(isSent).map((operation) => [operation.id, sendableOf(options, operation)]));
  const names = new Map([...only, ...also]);
  const allowed = mode === 'full' ? allowedChanges({ ...options, operations: readable, names, sendable }) : new Map<string, string>();
  const planning: Planning = { ...options, sources, sendable, names, allowed, withheld: new Map(unusable) };
  for (const { id } of readable) if (!touched.some((one) => one.id === id)) planning.withheld.set(id, NOT_LISTED);
  const leftovers = mode === 'full' ? leftoversOf(options.orphans, readable) : [];
  const steps: Step[] = leftovers.flatMap((leftover) => leftover.steps);
  for (const operation of usable) steps.push(...stepsFor(planning, operation));
  const unsendable = new Set([...sendable].flatMap(([id, one]) => (typeof one === 'string' ? [id] : [])));
  for (const id of unsendable) planning.withheld.set(id, String(sendable.get(id)));
  return { steps: withAllRemovals(steps, readable).toSorted(inOrder), withheld: planning.withheld, allowed, unsendable, leftovers, wanted };
}

/** Plans the removal of everything that the run can create, also by requests that the service should refuse. */
function withAllRemovals(steps: readonly Step[], operations: readonly Operation[]): readonly Step[] {
  return steps.map((step) => {
    if (step.path !== 'own' || step.detail === '' || (step.purpose !== 'remove' && step.purpose !== 'undo')) return step;
    const creations = steps.filter((other) => canCreate(other) && removalOf(other.operation, operations)?.id === step.operation.id);
    return {
      ...step,
      times: Math.max(
        1,
        creations.reduce((sum, { times }) => sum + times, 0),
      ),
    };
  });
}

function canCreate(step: Step): boolean {
  const { operation, method, path, isUnknown = false } = step;
  return isChange(step) && method === operation.method && (isItemWrite(operation) ? isUnknown : typeof path === 'string');
}

/** Orders steps by phase. A resource is removed after its subresources, and is shown to be unknown before a write may create it. */
function inOrder(one: Step, other: Step): number {
  if (one.phase !== other.phase) return one.phase - other.phase;
  const byDepth = one.phase === PHASES.remove ? removalDepthOf(other) - removalDepthOf(one) : 0;
  return byDepth === 0 ? rankOf(one) - rankOf(other) : byDepth;
}

function rankOf({ purpose, isUnknown, method, phase, detail }: Step): number {
  if (phase === PHASES.remove) return purpose === 'remove' ? (detail === '' ? 0 : REMOVAL_ORDER.length) : REMOVAL_ORDER.indexOf(purpose);
  if (isUnknown !== true) return 1;
  return method === 'DELETE' ? 0 : 2;
}

const REMOVAL_ORDER: readonly Purpose[] = ['remove', 'read-removed', 'leftover', 'remove-again'];

/** The number of identifiers of the resource that a step removes, or of the one that it creates next to it. */
function removalDepthOf({ operation, method }: Step): number {
  return pathParameters(operation.path).length + (method === 'DELETE' || method === 'GET' ? 0 : 1);
}

function stepsFor(planning: Planning, operation: Operation): readonly Step[] {
  const { operations, only, names, allowed, withheld, mode, sources } = planning;
  const isNamed = names.has(operation.id);
  // The run also includes operations that undo its changes, whether they are named or not.
  const undone = operations.filter((other) => allowed.has(other.id) && undoOf(other, operations)?.id === operation.id);
  const undoing = undone.flatMap((other) => undoSteps(planning, operation, other));
  if (undoing.length > 0 && !isNamed && operation.method !== 'DELETE') return undoing;
  const isWanted = only.size === 0 || isNamed || allowed.has(operation.id);
  const planned = operation.readOnly ? readingSteps(planning, operation) : [...undoing, ...writingSteps(planning, operation, undone)];
  if (!isWanted) withheld.set(operation.id, NOT_LISTED);
  const isProof = operations.some((other) => allowed.has(other.id) && itemShapeOf(other.path) === itemShapeOf(operation.path));
  function isNeeded({ purpose }: Step): boolean {
    return purpose === 'call' || (isProof && purpose === 'unknown-id');
  }
  const needed = isWanted ? planned : sources.has(operation.id) ? planned.filter(isNeeded) : [];
  return mode === 'read-only' ? limited(needed) : needed;
}

/** Drops steps beyond the limit of a read-only run for one operation. */
function limited(steps: readonly Step[]): readonly Step[] {
  let sent = 0;
  return steps.filter(({ times, purpose }) => {
    // More identifiers are tried only within the limit.
    const max = purpose === 'call' ? Math.min(times, MAX_SAMPLES_READ) : times;
    if (sent + max > MAX_READ_ONLY_REQUESTS) return false;
    sent += max;
    return true;
  });
}

function readingSteps(planning: Planning, operation: Operation): readonly Step[] {
  const { document, mode } = planning;
  if (!isSendable(planning, operation)) return methodSteps(planning, operation);
  const isBelow = hasPathParameters(operation.path);
  const named = namedPaths(planning, operation);
  const [first] = named;
  const call: Step = {
    ...base(planning, operation, 'reads'),
    purpose: 'call',
    path: isBelow ? (first ?? 'found') : 'none',
    form: formOf(planning, operation),
    times: isBelow && first === undefined ? MAX_TRIES[mode] : 1,
    phase: isBelow ? PHASES.readMore : PHASES.read,
  };
  const steps: Step[] = [call, ...named.slice(1).map((path) => ({ ...call, path }))];
  // Lists that were empty before contain the resources that the run created by then.
  const later: Step[] = [];
  const paging = pagingOf(document, operation);
  if (paging !== undefined) {
    const { second: value, field } = paging;
    const detail = value === undefined ? `${field || 'the next page'} of the first page` : `${field} ${value}`;
    const { form } = call;
    const pageForm: StepForm | undefined =
      paging.in === 'form' ? { values: { ...form?.values }, found: {}, isFromDocument: form?.isFromDocument ?? true } : form;
    const times = mode === 'full' && value === undefined ? MAX_PAGES : 1;
    const nextPage: Step = {
      ...call,
      purpose: 'next-page',
      form: pageForm,
      next: { in: paging.in, field, value },
      detail,
      times,
    };
    steps.push({ ...nextPage, times: 1 });
    later.push(nextPage);
  }
  if (mode === 'full' && !isBelow)
    for (const step of [call, ...later]) steps.push({ ...step, detail: 'again, after the creations', phase: PHASES.readMore });
  const isOfCreation = planning.operations.some(
    (other) => planning.allowed.has(other.id) && removalIn(operation, other, planning.operations) !== undefined,
  );
  if (isOfCreation)
    steps.push({ ...call, purpose: 'leftover', ifDoubtful: true, detail: 'after creations that failed', phase: PHASES.look });
  steps.push(...keySteps({ ...call, phase: PHASES.probe, times: 1 }, planning), ...unknownSteps(planning, operation, call));
  if (mode === 'full') steps.push(...nulSteps(planning, operation, call));
  for (const broken of [brokenSteps(planning, operation), brokenParameterSteps(planning, operation, call)])
    steps.push(...(mode === 'read-only' ? broken.slice(0, 1) : broken));
  steps.push(...methodSteps(planning, operation));
  if (mode === 'full') {
    const plain: Step = { ...call, purpose: 'valid-form', phase: PHASES.probe, times: 1 };
    steps.push(...otherForms(planning, operation).map((form): Step => ({ ...plain, ...form })));
    steps.push(...variationSteps(planning, operation, plain), ...headerSteps(planning, operation, plain), ...acceptSteps(operation, plain));
    steps.push(...otherBodySteps(planning, operation, plain));
    if (showsProgress(planning, operation)) steps.push({ ...call, purpose: 'poll', detail: 'until the work ends', times: MAX_POLLS * 2 });
    const changing = planning.operations.find(({ path, method }) => path === operation.path && (method === 'PATCH' || method === 'PUT'));
    if (changing !== undefined)
      steps.push({ ...call, path: 'own', purpose: 'read-changed', detail: `after ${changing.id}`, times: 2, phase: PHASES.changed });
  }
  return steps;
}

function writingSteps(planning: Planning, operation: Operation, undone: readonly Operation[]): readonly Step[] {
  const { mode, allowed, withheld } = planning;
  const probes = methodSteps(planning, operation);
  if (mode === 'read-only') {
    withheld.set(operation.id, operation.billable ? 'costs money, and this run is read-only' : 'changes state, and this run is read-only');
    return probes;
  }
  if (!isSendable(planning, operation)) return probes;
  if (!allowed.has(operation.id)) {
    withheld.set(operation.id, reasonToName(planning, operation));
    return probes;
  }
  return [...probes, ...effectiveSteps(planning, operation, undone)];
}

/** Why an operation runs only when it is named. */
function reasonToName({ operations }: Planning, operation: Operation): string {
  const { id, billable } = operation;
  const name = `--also ${id}${hasPathParameters(operation.path) ? '=IDENTIFIER' : ''}`;
  if (billable) return `it costs money; add it with --also ${id}`;
  if (operation.makesSeveral) return `it can make several resources at once; add it with --also ${id}`;
  if (isCreation(operation, operations)) return `the document has no operation that undoes it; add it with --also ${id}`;
  return `it changes what this run does not make; add it with ${name}`;
}

function effectiveSteps(planning: Planning, operation: Operation, undone: readonly Operation[]): readonly Step[] {
  const { operations, extensions } = planning;
  const call = callStep(planning, operation);
  const { path, effect } = call;
  const isRemoval = operation.method === 'DELETE';
  const isCall = call.purpose === 'call';
  const named = namedPaths(planning, operation);
  // The plan already contains this call as an undo step.
  const isPlannedAsUndo = !isRemoval && undone.some((other) => namedPaths(planning, other).some((one) => sameValues(named[0] ?? one, one)));
  const calls = [call, ...named.slice(1).map((other) => ({ ...call, path: other }))];
  const steps: Step[] = isPlannedAsUndo ? [] : calls;
  if (isRemoval) steps.push(...removalSteps(planning, operation, call));
  steps.push(...keySteps({ ...call, phase: PHASES.probe }, planning), ...unknownSteps(planning, operation, call));
  for (const extension of extensions) steps.push(...extension.steps(operation, call));
  // A removal with a broken filter can remove more than the user named.
  const isBreakable = !isRemoval || path === 'own';
  if (isBreakable) steps.push(...brokenSteps(planning, operation).map((step): Step => ({ ...step, path, effect })));
  if (operation.billable) return steps;
  if (isCall) {
    steps.push(...otherBodySteps(planning, operation, { ...call, phase: PHASES.change }));
    steps.push(...otherForms(planning, operation).map((form): Step => ({ ...call, ...form, phase: PHASES.change })));
    const isEarly = path === 'none' || path === 'parents' || operation.method === 'PUT' || operation.method === 'PATCH';
    if (hasPathParameters(operation.path) || undoOf(operation, operations) !== undefined)
      steps.push(...variationSteps(planning, operation, { ...call, purpose: 'valid-form', phase: isEarly ? PHASES.change : PHASES.vary }));
    else {
      // What these make remains, so that other variations are not sent.
      const later: Step = { ...call, phase: PHASES.change };
      steps.push(...singleFieldSteps(planning, operation, later), ...alternativeSteps(planning, operation, later));
    }
  }
  // A service that ignores a broken parameter carries out the change, which must not cost money.
  return [...steps, ...preconditionSteps(call), ...(isBreakable ? brokenParameterSteps(planning, operation, call) : [])];
}

/** The plain request of an operation that changes something. */
function callStep(planning: Planning, operation: Operation): Step {
  const { operations } = planning;
  const isRemoval = operation.method === 'DELETE';
  const isUndoing = isUndo(operation, operations) && !isRemoval;
  const isBelow = hasPathParameters(operation.path);
  const isNew = isCreation(operation, operations);
  const [named] = namedPaths(planning, operation);
  const path = !isBelow ? 'none' : (named ?? (isNew ? 'parents' : 'own'));
  const call: Step = {
    ...base(planning, operation, operation.billable ? 'costs' : 'changes'),
    purpose: isRemoval ? 'remove' : isUndoing ? 'undo' : 'call',
    path,
    form: formOf(planning, operation),
    phase: isRemoval ? PHASES.remove : isUndoing ? PHASES.undo : !isBelow || isNew ? PHASES.create : PHASES.change,
  };
  // A named write makes the resource that it needs, where nothing else makes one.
  const isOnlyMaker =
    isItemWrite(operation) &&
    named === undefined &&
    planning.names.has(operation.id) &&
    !operations.some(
      (other) => planning.allowed.has(other.id) && isCreation(other, operations) && itemIn(operation.path, other) !== undefined,
    );
  const unknown = isOnlyMaker ? madeUpPath(planning, operation) : undefined;
  if (unknown === undefined) return call;
  return { ...call, path: unknown, isUnknown: true, detail: 'a new identifier', phase: PHASES.create };
}

/**
 * Removes the named resources and those that the run created. The first one is read and removed again. Before that, another creation shows that
 * the service does not give its identifier to another resource; see `Ownership`.
 */
function removalSteps(planning: Planning, operation: Operation, call: Step): readonly Step[] {
  const { operations, allowed } = planning;
  const { phase, path } = call;
  const creations = operations.filter((other) => allowed.has(other.id) && removalOf(other, operations)?.id === operation.id);
  const again = creations.find((creation) => isCreation(creation, operations) && !creation.billable);
  const reader = operations.find((one) => one.method === 'GET' && one.path === operation.path);
  const isOwn = path === 'own';
  const steps: Step[] = [];
  if (isOwn || creations.length > 0) steps.push({ ...call, path: 'own', detail: 'everything else that this run created' });
  if (reader !== undefined && isSendable(planning, reader)) {
    const read: Step = { ...base(planning, reader, 'reads'), purpose: 'read-removed', path, phase };
    steps.push(read);
    if (isOwn && again !== undefined)
      steps.push(
        { ...callStep(planning, again), purpose: 'leftover', detail: 'after a removal', phase },
        { ...read, purpose: 'leftover', detail: 'after a creation' },
      );
  }
  return [...steps, { ...call, purpose: 'remove-again' }];
}

/** Undoes a change of the run. It restores the earlier state, so it needs neither a name nor a budget. */
function undoSteps(planning: Planning, operation: Operation, undone: Operation): readonly Step[] {
  if (operation.method === 'DELETE' || !isSendable(planning, operation)) return [];
  const named = namedPaths(planning, undone);
  return (named.length === 0 ? (['own'] as const) : named).map((path) => ({
    ...base(planning, operation, 'changes'),
    purpose: 'undo',
    path,
    form: formOf(planning, operation),
    detail: `undoes ${undone.id}`,
    phase: PHASES.undo,
    onlyAfter: undone.id,
  }));
}
