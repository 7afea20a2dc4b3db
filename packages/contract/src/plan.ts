import { needsNoField } from './body.ts';
import { brokenForms, brokenParameters } from './broken-forms.ts';
import type { PathValues } from './discover.ts';
import type { OpenApiDocument } from './document.ts';
import type { Extension } from './extension.ts';
import type { JournalEntry } from './journal.ts';
import { madeUpPath } from './made-up.ts';
import { createMatcher } from './match.ts';
import type { Operation } from './operation.ts';
import { pagingOf } from './paging.ts';
import { NO_PARAMETERS } from './parameters.ts';
import { fillPath, hasPathParameters, pathParameters } from './path-template.ts';
import { sendableOf, validBody, validExamples } from './sendable.ts';
import type { Sendable } from './sendable.ts';
import { stepForm } from './step-form.ts';
import { PHASES } from './step.ts';
import type { Effect, Step, StepForm } from './step.ts';
import { isUndo, undoOf } from './undo.ts';
import type { Validator } from './validator.ts';

export type Mode = 'read-only' | 'full';

/** Operations by id, some with an identifier that they may be used on. */
export type NamedOperations = ReadonlyMap<string, string | undefined>;

export interface PlanOptions {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  readonly validator: Validator;
  readonly mode: Mode;
  /** The run is restricted to these operations; empty for all that need not be named. */
  readonly only: NamedOperations;
  /** Operations that a run adds by name. */
  readonly also: NamedOperations;
  readonly seed: number;
  /** Changes of earlier runs that can still be undone. */
  readonly orphans: readonly JournalEntry[];
  readonly extensions: readonly Extension[];
  /** Operations that cannot be judged, with the reason. */
  readonly unusable: ReadonlyMap<string, string>;
}

/** Every request that may leave, and why operations are not called. */
export interface Plan {
  readonly steps: readonly Step[];
  readonly withheld: ReadonlyMap<string, string>;
  /** Of those that are not called: the ones for which the document does not provide a request. */
  readonly unsendable: ReadonlySet<string>;
}

/** The most requests that a read-only run sends for each operation. */
export const MAX_READ_ONLY_REQUESTS = 5;
/** How many things are read with one operation. */
export const MAX_SAMPLES_READ = 2;
/** How many things are tried until one shows something. In full mode, the first ones are those that the run has just made. */
const MAX_TRIES: Readonly<Record<Mode, number>> = { 'read-only': 3, full: 6 };

/** The most requests that steps may send. */
export function countRequests(steps: readonly Step[], mode: Mode): number {
  const sums = new Map<string, number>();
  for (const { operation, times } of steps) sums.set(operation.id, (sums.get(operation.id) ?? 0) + times);
  const max = mode === 'read-only' ? MAX_READ_ONLY_REQUESTS : Infinity;
  return [...sums.values()].reduce((sum, one) => sum + Math.min(one, max), 0);
}

interface Planning extends PlanOptions {
  readonly sendable: ReadonlyMap<string, Sendable | string>;
  readonly withheld: Map<string, string>;
  readonly names: NamedOperations;
}

/** What a run may send, worked out before the first request leaves. */
export function makePlan(options: PlanOptions): Plan {
  const { operations, mode, only, also, unusable } = options;
  const usable = operations.filter(({ id }) => !unusable.has(id));
  const planning: Planning = {
    ...options,
    sendable: new Map(
      usable
        .filter((operation) => mode === 'full' || operation.readOnly)
        .map((operation) => [operation.id, sendableOf(options, operation)]),
    ),
    withheld: new Map(unusable),
    names: new Map([...only, ...also]),
  };
  const steps: Step[] = mode === 'full' ? orphanSteps(options) : [];
  for (const operation of usable) steps.push(...stepsFor(planning, operation));
  const unsendable = new Set([...planning.sendable].flatMap(([id, sendable]) => (typeof sendable === 'string' ? [id] : [])));
  for (const id of unsendable) planning.withheld.set(id, String(planning.sendable.get(id)));
  return { steps: steps.toSorted(inOrder), withheld: planning.withheld, unsendable };
}

/** By phase. A thing is removed after the things below it. */
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
  // An operation that undoes another one of the run belongs to the run, named or not.
  const undone =
    mode === 'full' ? operations.filter((other) => isRun(planning, other) && undoOf(other, operations)?.id === operation.id) : [];
  const undoing = undone.flatMap((other) => undoStep(planning, operation, other));
  if (undoing.length > 0 && !isNamed && operation.method !== 'DELETE') return undoing;
  const isWanted = only.size === 0 || isNamed || undone.length > 0;
  const planned = operation.readOnly ? readingSteps(planning, operation) : [...undoing, ...writingSteps(planning, operation, undone)];
  if (!isWanted && !operation.readOnly) withheld.set(operation.id, 'it is not among those that --only names');
  // Operations that only read also find identifiers for the named ones.
  const needed = isWanted ? planned : operation.readOnly ? planned.filter(({ purpose }) => purpose === 'call') : [];
  return mode === 'read-only' ? limited(needed) : needed;
}

function isRun({ names, only, operations, sendable }: Planning, operation: Operation): boolean {
  if (typeof sendable.get(operation.id) !== 'object') return false;
  return names.has(operation.id) || (only.size === 0 && reasonToName(operation, operations) === undefined);
}

/** The first of the steps, as many as a read-only run may send for one operation. */
function limited(steps: readonly Step[]): readonly Step[] {
  let sent = 0;
  return steps.filter(({ times, purpose }) => {
    // Further identifiers are tried only while there is room.
    const max = purpose === 'call' ? Math.min(times, MAX_SAMPLES_READ) : times;
    if (sent + max > MAX_READ_ONLY_REQUESTS) return false;
    sent += max;
    return true;
  });
}

function base(
  planning: Planning,
  operation: Operation,
  effect: Effect,
): Pick<Step, 'operation' | 'method' | 'credential' | 'form' | 'parameters' | 'detail' | 'times' | 'effect'> {
  const sendable = planning.sendable.get(operation.id);
  const parameters = typeof sendable === 'object' ? sendable.parameters : NO_PARAMETERS;
  return { operation, method: operation.method, credential: 'account', form: undefined, parameters, detail: '', times: 1, effect };
}

function formOf({ sendable }: Planning, operation: Operation): StepForm | undefined {
  const made = sendable.get(operation.id);
  return typeof made === 'object' ? made.form : undefined;
}

function isSendable({ sendable }: Planning, operation: Operation): boolean {
  return typeof sendable.get(operation.id) === 'object';
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
  // By then the run has made things, which show parts of lists that were empty before.
  if (mode === 'full' && !isBelow) steps.push({ ...call, detail: 'once more, after what was made', phase: PHASES.readMore });
  const paging = pagingOf(document, operation);
  if (paging !== undefined) {
    const value = paging.by === 'offset' ? paging.next(undefined) : undefined;
    const detail = value === undefined ? `${paging.field} of the first page` : `${paging.field} ${value}`;
    const { form } = call;
    const pageForm: StepForm | undefined =
      paging.in === 'form' ? { values: { ...form?.values }, found: {}, isFromDocument: form?.isFromDocument ?? true } : form;
    steps.push({ ...call, purpose: 'next-page', form: pageForm, next: { in: paging.in, field: paging.field, value }, detail, times: 1 });
  }
  steps.push(...keySteps({ ...call, phase: PHASES.probe, times: 1 }), ...unknownSteps(planning, operation, call.form));
  for (const broken of [brokenSteps(planning, operation), brokenParameterSteps(planning, operation, call)])
    steps.push(...(mode === 'read-only' ? broken.slice(0, 1) : broken));
  steps.push(...methodSteps(planning, operation));
  if (mode === 'full')
    steps.push(...otherForms(planning, operation).map((form): Step => ({ ...call, ...form, phase: PHASES.probe, times: 1 })));
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

/** Why an operation runs only when it is asked for by name, or undefined where it need not be. */
export function reasonToName(operation: Operation, operations: readonly Operation[]): string | undefined {
  if (operation.billable) return `it costs money: ask for it by name, --also ${operation.id}`;
  if (undoOf(operation, operations) === undefined && !isUndo(operation, operations) && operation.method !== 'DELETE')
    return `the document has no operation that undoes it: ask for it by name, --also ${operation.id}`;
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
  // The plan already has the steps that undo what the run did.
  const isPlannedAsUndo = !isRemoval && undone.some((other) => named === undefined || samePath(named, namedPath(planning, other)));
  const steps: Step[] = isPlannedAsUndo ? [] : [call];
  if (isRemoval) {
    // A thing that was named is removed as well as those that the run made.
    if (named !== undefined && undone.length > 0) steps.push({ ...call, path: 'own', detail: 'a thing that this run made' });
    steps.push({ ...call, purpose: 'remove-again', phase: PHASES.removed });
    const reader = operations.find((one) => one.method === 'GET' && one.path === operation.path);
    if (reader !== undefined && isSendable(planning, reader))
      steps.push({ ...base(planning, reader, 'reads'), purpose: 'read-removed', path, phase: PHASES.removed });
  }
  for (const extension of extensions) steps.push(...extension.steps(operation, call));
  // Nothing in such a request can be made up, so the request itself was asked for by name.
  if (!operation.billable && harmlessKeySteps(planning, operation).length === 0) steps.push(...keySteps({ ...call, phase: PHASES.probe }));
  if (!operation.billable && !isRemoval && !isUndoing)
    steps.push(...otherForms(planning, operation).map((form): Step => ({ ...call, ...form, phase: PHASES.change })));
  steps.push(...brokenSteps(planning, operation).map((step): Step => ({ ...step, path, effect })));
  // A service that ignores a broken parameter carries out the change, which must not cost money.
  if (!operation.billable) steps.push(...brokenParameterSteps(planning, operation, call));
  return steps;
}

/** Undoes what the run did. It restores the earlier state, so it needs neither a name nor a budget. */
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

function namedPath({ names }: Planning, operation: Operation): PathValues | undefined {
  const value = names.get(operation.id);
  const [name, ...others] = pathParameters(operation.path);
  return value === undefined || name === undefined || others.length > 0 ? undefined : { [name]: value };
}

function samePath(one: PathValues, other: PathValues | undefined): boolean {
  return other !== undefined && JSON.stringify(Object.values(one)) === JSON.stringify(Object.values(other));
}

function keySteps(call: Step): readonly Step[] {
  if (call.operation.security === undefined || call.operation.security.optional) return [];
  return [
    { ...call, purpose: 'no-key', credential: 'none' },
    { ...call, purpose: 'wrong-key', credential: 'wrong' },
  ];
}

/** Asks without the key for what would change nothing even if it were served. */
function harmlessKeySteps(planning: Planning, operation: Operation): readonly Step[] {
  const path = hasPathParameters(operation.path) ? madeUpPath(planning, operation) : 'none';
  if (path === undefined || (path === 'none' && needsNoField(operation.body))) return [];
  return keySteps({
    ...base(planning, operation, 'reads'),
    purpose: 'no-key',
    path,
    detail: path === 'none' ? `without the ${operation.body?.format === 'json' ? 'body' : 'form'}` : 'of nothing',
    phase: PHASES.probe,
  });
}

function unknownSteps(planning: Planning, operation: Operation, form: StepForm | undefined): readonly Step[] {
  const path = hasPathParameters(operation.path) ? madeUpPath(planning, operation) : undefined;
  if (path === undefined) return [];
  return [
    {
      ...base(planning, operation, 'reads'),
      purpose: 'unknown-id',
      path,
      form,
      detail: 'an identifier that nothing has',
      phase: PHASES.probe,
    },
  ];
}

function methodSteps(planning: Planning, operation: Operation): readonly Step[] {
  const { operations, mode } = planning;
  const first = operations.find(({ path }) => path === operation.path);
  const path = hasPathParameters(operation.path) ? madeUpPath(planning, operation) : 'none';
  if (first?.id !== operation.id || path === undefined) return [];
  const match = createMatcher(operations);
  const filled = fillPath(operation.path, path === 'none' ? {} : path);
  return (
    ['GET', ...(mode === 'full' ? ['PATCH'] : [])]
      // The same text may be another operation's path: GET /things/search is also GET /things/{id}.
      .filter((method) => match(method, filled) === undefined)
      .map((method) => ({
        ...base(planning, operation, 'reads'),
        method,
        parameters: NO_PARAMETERS,
        purpose: 'method' as const,
        path,
        detail: 'a method that is not described',
        phase: PHASES.probe,
      }))
  );
}

function brokenSteps(planning: Planning, operation: Operation): readonly Step[] {
  const valid = validBody(planning, operation);
  if (operation.body === undefined || valid === undefined) return [];
  const path = hasPathParameters(operation.path) ? ('found' as const) : ('none' as const);
  return brokenForms(planning, operation, valid.values).map(({ values, detail, field }) => ({
    ...base(planning, operation, 'reads'),
    purpose: 'invalid-form',
    path,
    form: stepForm(planning, operation, { ...valid, values }, field),
    detail,
    phase: PHASES.probe,
  }));
}

function brokenParameterSteps(planning: Planning, operation: Operation, call: Step): readonly Step[] {
  return brokenParameters(planning, operation, call.parameters).map(({ parameters, detail }) => ({
    ...call,
    purpose: 'invalid-parameter',
    parameters,
    detail,
    times: 1,
    phase: PHASES.probe,
  }));
}

/** The other examples: further bodies that must be accepted. */
function otherForms(planning: Planning, operation: Operation): readonly Pick<Step, 'purpose' | 'form' | 'detail'>[] {
  return validExamples(planning, operation)
    .slice(needsNoField(operation.body) ? 0 : 1)
    .filter(({ values }) => Object.keys(values).length > 0)
    .map(({ name, values }) => ({
      purpose: 'valid-form' as const,
      form: stepForm(planning, operation, { values, isFromDocument: true }),
      detail: `the example ${name}`,
    }));
}

function orphanSteps({ operations, orphans, unusable }: PlanOptions): Step[] {
  return orphans.flatMap(({ id, operation: name, undo }) => {
    const operation = operations.find((one) => one.id === undo?.operation && !unusable.has(one.id));
    if (operation === undefined || undo === undefined) return [];
    return [
      {
        operation,
        method: operation.method,
        credential: 'account' as const,
        form: undefined,
        parameters: NO_PARAMETERS,
        purpose: 'undo' as const,
        path: undo.path,
        detail: `left behind by ${name} of an earlier run`,
        times: 1,
        phase: PHASES.orphans,
        effect: 'changes' as const,
        undoes: id,
      },
    ];
  });
}
