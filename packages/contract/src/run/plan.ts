import type { Operation } from '../document/operation.ts';
import { hasPathParameters, pathParameters } from '../document/path-template.ts';
import type { PathValues } from '../exchange/discover.ts';
import { pagingOf } from '../exchange/paging.ts';
import { MAX_POLLS } from './follow.ts';
import { leftoversOf } from './leftovers.ts';
import type { Leftover } from './leftovers.ts';
import { base, formOf, isSendable, namedPath } from './planning.ts';
import type { Mode, Planning, PlanOptions } from './planning.ts';
import { brokenParameterSteps, brokenSteps, harmlessKeySteps, keySteps, methodSteps, unknownSteps } from './probe-steps.ts';
import { sendableOf } from './sendable.ts';
import { sourcesFor } from './sources.ts';
import { PHASES } from './step.ts';
import type { Effect, Step, StepForm } from './step.ts';
import { isUndo, undoOf } from './undo.ts';
import { acceptSteps, otherForms, preconditionSteps, showsProgress, variationSteps } from './valid-steps.ts';

/** Every request that may be sent, and the reasons why other operations are not called. */
export interface Plan {
  readonly steps: readonly Step[];
  readonly withheld: ReadonlyMap<string, string>;
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
  const undoing = mode === 'full' ? named.map((operation) => undoOf(operation, operations)?.id) : [];
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
  const planning: Planning = {
    ...options,
    sources,
    sendable: new Map(usable.filter(isSent).map((operation) => [operation.id, sendableOf(options, operation)])),
    withheld: new Map(unusable),
    names: new Map([...only, ...also]),
  };
  for (const { id } of readable) if (!touched.some((one) => one.id === id)) planning.withheld.set(id, NOT_LISTED);
  const leftovers = mode === 'full' ? leftoversOf(options.orphans, readable) : [];
  const steps: Step[] = leftovers.flatMap((leftover) => leftover.steps);
  for (const operation of usable) steps.push(...stepsFor(planning, operation));
  const unsendable = new Set([...planning.sendable].flatMap(([id, sendable]) => (typeof sendable === 'string' ? [id] : [])));
  for (const id of unsendable) planning.withheld.set(id, String(planning.sendable.get(id)));
  return { steps: withAllRemovals(steps, operations).toSorted(inOrder), withheld: planning.withheld, unsendable, leftovers, wanted };
}

/** Plans the removal of everything that the run can create, also by requests that the service should refuse. */
function withAllRemovals(steps: readonly Step[], operations: readonly Operation[]): readonly Step[] {
  return steps.map((step) => {
    if (step.path !== 'own' || (step.purpose !== 'remove' && step.purpose !== 'undo')) return step;
    const creations = steps.filter((other) => canCreate(other) && undoOf(other.operation, operations)?.id === step.operation.id);
    return {
      ...step,
      times: Math.max(
        1,
        creations.reduce((sum, { times }) => sum + times, 0),
      ),
    };
  });
}

function canCreate({ operation, method, path }: Step): boolean {
  return !operation.readOnly && method === operation.method && typeof path === 'string';
}

/** Orders steps by phase. A resource is removed after its subresources. */
function inOrder(one: Step, other: Step): number {
  if (one.phase !== other.phase) return one.phase - other.phase;
  return one.phase === PHASES.remove ? depthOf(other) - depthOf(one) : 0;
}

function depthOf({ operation }: Step): number {
  return pathParameters(operation.path).length;
}

function stepsFor(planning: Planning, operation: Operation): readonly Step[] {
  const { operations, mode, only, names, withheld } = planning;
  const isNamed = names.has(operation.id);
  // The run also includes operations that undo its changes, whether they are named or not.
  const undone =
    mode === 'full' ? operations.filter((other) => isRun(planning, other) && undoOf(other, operations)?.id === operation.id) : [];
  const undoing = undone.flatMap((other) => undoStep(planning, operation, other));
  if (undoing.length > 0 && !isNamed && operation.method !== 'DELETE') return undoing;
  const isWanted = only.size === 0 || isNamed || undone.length > 0;
  const planned = operation.readOnly ? readingSteps(planning, operation) : [...undoing, ...writingSteps(planning, operation, undone)];
  if (!isWanted) withheld.set(operation.id, NOT_LISTED);
  const needed = isWanted ? planned : planning.sources.has(operation.id) ? planned.filter(({ purpose }) => purpose === 'call') : [];
  return mode === 'read-only' ? limited(needed) : needed;
}

function isRun({ names, only, operations, sendable }: Planning, operation: Operation): boolean {
  if (typeof sendable.get(operation.id) !== 'object') return false;
  return names.has(operation.id) || (only.size === 0 && reasonToName(operation, operations) === undefined);
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
  const named = namedPath(planning, operation);
  const call: Step = {
    ...base(planning, operation, 'reads'),
    purpose: 'call',
    path: isBelow ? (named ?? 'found') : 'none',
    form: formOf(planning, operation),
    times: isBelow && named === undefined ? MAX_TRIES[mode] : 1,
    phase: isBelow ? PHASES.readMore : PHASES.read,
  };
  const steps: Step[] = [call];
  // Lists that were empty before contain the resources that the run created by then.
  const later: Step[] = [];
  const paging = pagingOf(document, operation);
  if (paging !== undefined) {
    const value = paging.by === 'offset' ? paging.next(undefined) : undefined;
    const detail = value === undefined ? `${paging.field} of the first page` : `${paging.field} ${value}`;
    const { form } = call;
    const pageForm: StepForm | undefined =
      paging.in === 'form' ? { values: { ...form?.values }, found: {}, isFromDocument: form?.isFromDocument ?? true } : form;
    const times = mode === 'full' && value === undefined ? MAX_PAGES : 1;
    const nextPage: Step = {
      ...call,
      purpose: 'next-page',
      form: pageForm,
      next: { in: paging.in, field: paging.field, value },
      detail,
      times,
    };
    steps.push({ ...nextPage, times: 1 });
    later.push(nextPage);
  }
  if (mode === 'full' && !isBelow)
    for (const step of [call, ...later]) steps.push({ ...step, detail: 'again, after the creations', phase: PHASES.readMore });
  steps.push(...keySteps({ ...call, phase: PHASES.probe, times: 1 }), ...unknownSteps(planning, operation, call.form));
  for (const broken of [brokenSteps(planning, operation), brokenParameterSteps(planning, operation, call)])
    steps.push(...(mode === 'read-only' ? broken.slice(0, 1) : broken));
  steps.push(...methodSteps(planning, operation));
  if (mode === 'full') {
    const plain: Step = { ...call, purpose: 'valid-form', phase: PHASES.probe, times: 1 };
    steps.push(...otherForms(planning, operation).map((form): Step => ({ ...plain, ...form })));
    steps.push(...variationSteps(planning, operation, plain), ...acceptSteps(operation, plain));
    if (showsProgress(planning, operation)) steps.push({ ...call, purpose: 'poll', detail: 'until the work ends', times: MAX_POLLS * 2 });
    const changing = planning.operations.find(({ path, method }) => path === operation.path && (method === 'PATCH' || method === 'PUT'));
    if (changing !== undefined)
      steps.push({ ...call, path: 'own', purpose: 'read-changed', detail: `after ${changing.id}`, times: 2, phase: PHASES.changed });
  }
  return steps;
}

function writingSteps(planning: Planning, operation: Operation, undone: readonly Operation[]): readonly Step[] {
  const { mode, names, operations, withheld } = planning;
  const probes = [...methodSteps(planning, operation)];
  if (mode === 'read-only') {
    withheld.set(operation.id, operation.billable ? 'costs money, and this run is read-only' : 'changes state, and this run is read-only');
    return probes;
  }
  if (!isSendable(planning, operation)) return probes;
  probes.push(...harmlessKeySteps(planning, operation), ...unknownSteps(planning, operation, formOf(planning, operation)));
  const reason = names.has(operation.id) || undone.length > 0 ? undefined : reasonToName(operation, operations);
  if (reason !== undefined) {
    withheld.set(operation.id, reason);
    return probes;
  }
  return [...probes, ...effectiveSteps(planning, operation, undone)];
}

/** Why an operation runs only when it is named, or undefined. */
export function reasonToName(operation: Operation, operations: readonly Operation[]): string | undefined {
  if (operation.billable) return `it costs money; add it with --also ${operation.id}`;
  if (undoOf(operation, operations) === undefined && !isUndo(operation, operations) && operation.method !== 'DELETE')
    return `the document has no operation that undoes it; add it with --also ${operation.id}`;
  return undefined;
}

function effectiveSteps(planning: Planning, operation: Operation, undone: readonly Operation[]): readonly Step[] {
  const { operations, extensions } = planning;
  const effect: Effect = operation.billable ? 'costs' : 'changes';
  const named = namedPath(planning, operation);
  const path = hasPathParameters(operation.path) ? (named ?? 'own') : 'none';
  const isRemoval = operation.method === 'DELETE';
  const isUndoing = isUndo(operation, operations);
  const call: Step = {
    ...base(planning, operation, effect),
    purpose: isRemoval ? 'remove' : isUndoing ? 'undo' : 'call',
    path,
    form: formOf(planning, operation),
    phase: isRemoval ? PHASES.remove : isUndoing ? PHASES.undo : path === 'none' ? PHASES.create : PHASES.change,
  };
  // The plan already contains this call as an undo step.
  const isPlannedAsUndo = !isRemoval && undone.some((other) => named === undefined || samePath(named, namedPath(planning, other)));
  const steps: Step[] = isPlannedAsUndo ? [] : [call];
  if (isRemoval) {
    // Removes the named resource and those that the run created.
    if (named !== undefined && undone.length > 0) steps.push({ ...call, path: 'own', detail: 'a resource that this run created' });
    steps.push({ ...call, purpose: 'remove-again', phase: PHASES.removed });
    const reader = operations.find((one) => one.method === 'GET' && one.path === operation.path);
    if (reader !== undefined && isSendable(planning, reader))
      steps.push({ ...base(planning, reader, 'reads'), purpose: 'read-removed', path, phase: PHASES.removed });
  }
  for (const extension of extensions) steps.push(...extension.steps(operation, call));
  // Without a path parameter or required field, the request cannot be made harmless. It runs only because it was named.
  if (!operation.billable && harmlessKeySteps(planning, operation).length === 0) steps.push(...keySteps({ ...call, phase: PHASES.probe }));
  if (!operation.billable && !isRemoval && !isUndoing)
    steps.push(...otherForms(planning, operation).map((form): Step => ({ ...call, ...form, phase: PHASES.change })));
  if (!operation.billable && !isRemoval && !isUndoing && canBeUndone(planning, operation))
    steps.push(
      ...variationSteps(planning, operation, {
        ...call,
        purpose: 'valid-form',
        phase: path === 'none' || operation.method === 'PUT' || operation.method === 'PATCH' ? PHASES.change : PHASES.vary,
      }),
    );
  if (!operation.billable) steps.push(...preconditionSteps(call));
  steps.push(...brokenSteps(planning, operation).map((step): Step => ({ ...step, path, effect })));
  // A service that ignores a broken parameter carries out the change, which must not cost money.
  if (!operation.billable) steps.push(...brokenParameterSteps(planning, operation, call));
  return steps;
}

/** Undoes a change of the run. It restores the earlier state, so it needs neither a name nor a budget. */
function undoStep(planning: Planning, operation: Operation, undone: Operation): readonly Step[] {
  if (operation.method === 'DELETE' || !isSendable(planning, operation)) return [];
  return [
    {
      ...base(planning, operation, 'changes'),
      purpose: 'undo',
      path: namedPath(planning, undone) ?? 'own',
      form: formOf(planning, operation),
      detail: `undoes ${undone.id}`,
      phase: PHASES.undo,
      onlyAfter: undone.id,
    },
  ];
}

/** Whether what the operation does can be undone, or is done to a resource that the run created. */
function canBeUndone({ operations }: Planning, operation: Operation): boolean {
  return hasPathParameters(operation.path) || undoOf(operation, operations) !== undefined;
}

function samePath(one: PathValues, other: PathValues | undefined): boolean {
  return other !== undefined && JSON.stringify(Object.values(one)) === JSON.stringify(Object.values(other));
}
