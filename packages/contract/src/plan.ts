import { brokenForms } from './broken-forms.ts';
import type { PathValues } from './discover.ts';
import type { OpenApiDocument } from './document.ts';
import type { Extension } from './extension.ts';
import type { JournalEntry } from './journal.ts';
import { isObject } from './json.ts';
import { createMatcher } from './match.ts';
import type { Operation } from './operation.ts';
import { pagingOf } from './paging.ts';
import { madeUpPath } from './made-up.ts';
import { fillPath, hasPathParameters, pathParameters } from './path-template.ts';
import { PHASES, type Effect, type Step, type StepForm } from './step.ts';
import { stepForm } from './step-form.ts';
import { isUndo, undoOf } from './undo.ts';
import type { Validator } from './validator.ts';

export type Mode = 'read-only' | 'full';

export interface PlanOptions {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  readonly validator: Validator;
  readonly mode: Mode;
  /** Operations asked for by name, some with an identifier that they may be used on; empty for all that need not be named. */
  readonly only: ReadonlyMap<string, string | undefined>;
  readonly seed: number;
  /** What earlier runs left behind and can still be undone. */
  readonly leftovers: readonly JournalEntry[];
  readonly extensions: readonly Extension[];
}

/** Every request that may leave, and why the operations that are not called are not. */
export interface Plan {
  readonly steps: readonly Step[];
  readonly withheld: ReadonlyMap<string, string>;
}

/** Design: a read-only run sends no more than this for each operation. */
export const READ_ONLY_LIMIT = 5;
const SAMPLES = 2;

/** What a run may send, worked out before the first request leaves. */
export function makePlan(options: PlanOptions): Plan {
  const { operations, mode, only } = options;
  const withheld = new Map<string, string>();
  const steps: Step[] = mode === 'full' ? leftoverSteps(options) : [];
  const isRun = (operation: Operation): boolean =>
    only.has(operation.id) || (only.size === 0 && reasonToName(operation, operations) === undefined);
  for (const operation of operations) {
    // What undoes something that runs must run as well, named or not.
    const undone = operations.filter((other) => isRun(other) && undoOf(other, operations)?.id === operation.id);
    if (mode === 'full' && undone.length > 0 && !only.has(operation.id) && operation.method !== 'DELETE') {
      steps.push(...undone.map((other) => undoStep(options, operation, other)));
      continue;
    }
    const isNamed = only.size === 0 || only.has(operation.id) || undone.length > 0;
    const planned = operation.readOnly ? readingSteps(options, operation) : writingSteps(options, operation, withheld);
    // What reads also finds identifiers for what was named.
    const needed = isNamed ? planned : operation.readOnly ? planned.filter(({ purpose }) => purpose === 'call') : [];
    if (!isNamed && !operation.readOnly) withheld.set(operation.id, 'it is not among those that --only names');
    steps.push(...(mode === 'read-only' ? limited(needed) : needed));
  }
  return { steps: steps.toSorted((one, other) => one.phase - other.phase), withheld };
}

/** The first of the steps, as many as a read-only run may send for one operation. */
function limited(steps: readonly Step[]): readonly Step[] {
  let sent = 0;
  return steps.filter(({ times }) => {
    if (sent + times > READ_ONLY_LIMIT) return false;
    sent += times;
    return true;
  });
}

function base(
  operation: Operation,
  effect: Effect,
): Pick<Step, 'operation' | 'method' | 'credential' | 'form' | 'detail' | 'times' | 'effect'> {
  return { operation, method: operation.method, credential: 'account', form: undefined, detail: '', times: 1, effect };
}

function readingSteps(options: PlanOptions, operation: Operation): readonly Step[] {
  const { document, mode } = options;
  const isBelow = hasPathParameters(operation.path);
  const call: Step = {
    ...base(operation, 'reads'),
    purpose: 'call',
    path: isBelow ? 'found' : 'none',
    form: firstForm(options, operation),
    times: isBelow ? SAMPLES : 1,
    phase: isBelow ? PHASES.readMore : PHASES.read,
  };
  const steps: Step[] = [call];
  // What the run has made by then shows parts of lists that were empty before.
  if (mode === 'full' && !isBelow) steps.push({ ...call, detail: 'once more, after what was made', phase: PHASES.readMore });
  const paging = pagingOf(document, operation);
  if (paging !== undefined) {
    const value = paging.by === 'offset' ? paging.next(undefined) : undefined;
    const detail = value === undefined ? `${paging.field} of the first page` : `${paging.field} ${value}`;
    const form: StepForm | undefined = paging.in === 'form' ? { values: { ...call.form?.values }, found: {} } : call.form;
    steps.push({ ...call, purpose: 'next-page', form, next: { in: paging.in, field: paging.field, value }, detail, times: 1 });
  }
  steps.push(...keySteps({ ...call, phase: PHASES.probe, times: 1 }), ...unknownSteps(options, operation, call.form));
  const broken = brokenSteps(options, operation);
  steps.push(...(mode === 'read-only' ? broken.slice(0, 1) : broken), ...methodSteps(options, operation));
  if (mode === 'full')
    steps.push(...otherForms(options, operation).map((form): Step => ({ ...call, ...form, phase: PHASES.probe, times: 1 })));
  return steps;
}

function writingSteps(options: PlanOptions, operation: Operation, withheld: Map<string, string>): readonly Step[] {
  const { mode, only, operations } = options;
  const probes = [...methodSteps(options, operation)];
  if (mode === 'read-only') {
    withheld.set(operation.id, operation.billable ? 'costs money, and this run is read-only' : 'changes state, and this run is read-only');
    return probes;
  }
  probes.push(...harmlessKeySteps(options, operation), ...unknownSteps(options, operation, firstForm(options, operation)));
  const reason = only.has(operation.id) ? undefined : reasonToName(operation, operations);
  if (reason !== undefined) {
    withheld.set(operation.id, reason);
    return probes;
  }
  return [...probes, ...effectiveSteps(options, operation)];
}

/** Why an operation runs only when it is asked for by name, or undefined where it need not be. */
export function reasonToName(operation: Operation, operations: readonly Operation[]): string | undefined {
  if (operation.billable) return `it costs money: ask for it by name, --only ${operation.id}`;
  if (undoOf(operation, operations) === undefined && !isUndo(operation, operations) && operation.method !== 'DELETE')
    return `the document has no operation that undoes it: ask for it by name, --only ${operation.id}`;
  return undefined;
}

function effectiveSteps(options: PlanOptions, operation: Operation): readonly Step[] {
  const { operations, extensions } = options;
  const effect: Effect = operation.billable ? 'costs' : 'changes';
  const path = hasPathParameters(operation.path) ? (namedPath(options, operation) ?? 'own') : 'none';
  const isRemoval = operation.method === 'DELETE';
  const isUndoing = isUndo(operation, operations);
  const call: Step = {
    ...base(operation, effect),
    purpose: isRemoval ? 'remove' : isUndoing ? 'undo' : 'call',
    path,
    form: firstForm(options, operation),
    phase: isRemoval ? PHASES.remove : isUndoing ? PHASES.undo : path === 'none' ? PHASES.create : PHASES.change,
  };
  const steps: Step[] = [call];
  if (isRemoval) {
    steps.push({ ...call, purpose: 'remove-again', phase: PHASES.removed });
    const reader = operations.find(({ method, path: at }) => method === 'GET' && at === operation.path);
    if (reader !== undefined)
      steps.push({ ...call, operation, method: 'GET', purpose: 'read-removed', form: undefined, effect: 'reads', phase: PHASES.removed });
  }
  for (const extension of extensions) steps.push(...extension.steps(operation, call));
  // Nothing in it could be made up, so that the request itself is what was asked for by name.
  if (!operation.billable && harmlessKeySteps(options, operation).length === 0) steps.push(...keySteps({ ...call, phase: PHASES.probe }));
  if (!operation.billable && !isRemoval && !isUndoing)
    steps.push(...otherForms(options, operation).map((form): Step => ({ ...call, ...form, phase: PHASES.change })));
  steps.push(...brokenSteps(options, operation).map((step): Step => ({ ...step, path, effect })));
  return steps;
}

/** Undoes what the run did: it gives back what was there before, so that it needs no name and no budget of its own. */
function undoStep(options: PlanOptions, operation: Operation, undone: Operation): Step {
  const path = namedPath(options, undone) ?? 'own';
  const form = firstForm(options, operation);
  return {
    ...base(operation, 'changes'),
    purpose: 'undo',
    path,
    form,
    detail: `undoes ${undone.id}`,
    phase: PHASES.undo,
    onlyAfter: undone.id,
  };
}

function namedPath({ only }: PlanOptions, operation: Operation): PathValues | undefined {
  const value = only.get(operation.id);
  const names = pathParameters(operation.path);
  const [name] = names;
  return value === undefined || name === undefined || names.length > 1 ? undefined : { [name]: value };
}

function keySteps(call: Step): readonly Step[] {
  if (call.operation.security === undefined) return [];
  return [
    { ...call, purpose: 'no-key', credential: 'none' },
    { ...call, purpose: 'wrong-key', credential: 'wrong' },
  ];
}

/** Asks without the key for what could change nothing even if it were served. */
function harmlessKeySteps(options: PlanOptions, operation: Operation): readonly Step[] {
  const path = hasPathParameters(operation.path) ? madeUpPath(options, operation) : 'none';
  const needsField = [...(operation.form?.fields.values() ?? [])].some(({ required }) => required);
  if (path === undefined || (path === 'none' && !needsField)) return [];
  return keySteps({
    ...base(operation, 'reads'),
    purpose: 'no-key',
    path,
    form: undefined,
    detail: path === 'none' ? 'without the form' : 'of nothing',
    phase: PHASES.probe,
  });
}

function unknownSteps(options: PlanOptions, operation: Operation, form: StepForm | undefined): readonly Step[] {
  const path = hasPathParameters(operation.path) ? madeUpPath(options, operation) : undefined;
  if (path === undefined) return [];
  return [
    { ...base(operation, 'reads'), purpose: 'unknown-id', path, form, detail: 'an identifier that nothing has', phase: PHASES.probe },
  ];
}

function methodSteps(options: PlanOptions, operation: Operation): readonly Step[] {
  const { operations, mode } = options;
  const first = operations.find(({ path }) => path === operation.path);
  const path = hasPathParameters(operation.path) ? madeUpPath(options, operation) : 'none';
  if (first?.id !== operation.id || path === undefined) return [];
  const match = createMatcher(operations);
  const filled = fillPath(operation.path, path === 'none' ? {} : path);
  return (
    ['GET', ...(mode === 'full' ? ['PATCH'] : [])]
      // The same text may be another operation's path: GET /things/search is also GET /things/{id}.
      .filter((method) => match(method, filled) === undefined)
      .map((method) => ({
        ...base(operation, 'reads'),
        method,
        purpose: 'method' as const,
        path,
        detail: 'a method that is not described',
        phase: PHASES.probe,
      }))
  );
}

function brokenSteps(options: PlanOptions, operation: Operation): readonly Step[] {
  const valid = firstExample(operation);
  if (operation.form === undefined || valid === undefined) return [];
  const path = hasPathParameters(operation.path) ? ('found' as const) : ('none' as const);
  return brokenForms(options, operation, valid).map(({ values, detail, field }) => ({
    ...base(operation, 'reads'),
    purpose: 'invalid-form',
    path,
    form: stepForm(options, operation, values, field),
    detail,
    phase: PHASES.probe,
  }));
}

/** Examples beside the first: further forms that must be accepted. */
function otherForms(options: PlanOptions, operation: Operation): readonly Pick<Step, 'purpose' | 'form' | 'detail'>[] {
  return Object.entries(operation.form?.examples ?? {})
    .slice(needsNoField(operation) ? 0 : 1)
    .flatMap(([name, { value }]) =>
      isObject(value) && Object.keys(value).length > 0
        ? [{ purpose: 'valid-form' as const, form: stepForm(options, operation, value), detail: `the example ${name}` }]
        : [],
    );
}

function firstForm(options: PlanOptions, operation: Operation): StepForm | undefined {
  const example = firstExample(operation);
  return operation.form === undefined || example === undefined ? undefined : stepForm(options, operation, example);
}

/** No field where none is needed, else the first example. */
function firstExample(operation: Operation): Readonly<Record<string, unknown>> | undefined {
  if (operation.form === undefined) return undefined;
  if (needsNoField(operation)) return {};
  const [first] = Object.values(operation.form.examples);
  return isObject(first?.value) ? first.value : undefined;
}

function needsNoField({ form }: Operation): boolean {
  return [...(form?.fields.values() ?? [])].every(({ required }) => !required);
}

function leftoverSteps({ operations, leftovers }: PlanOptions): Step[] {
  return leftovers.flatMap(({ id, operation: name, undo }) => {
    const operation = operations.find((one) => one.id === undo?.operation);
    if (operation === undefined || undo === undefined) return [];
    return [
      {
        ...base(operation, 'changes'),
        purpose: 'undo' as const,
        path: undo.path,
        detail: `left behind by ${name} of an earlier run`,
        phase: PHASES.leftovers,
        undoes: id,
      },
    ];
  });
}
