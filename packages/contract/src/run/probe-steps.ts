import { excludesCreation, isCreation, itemIn, namesResources } from '../document/creation.ts';
import { createMatcher } from '../document/match.ts';
import type { Operation } from '../document/operation.ts';
import { NO_PARAMETERS } from '../document/parameters.ts';
import { fillPath, hasPathParameters, pathParameters } from '../document/path-template.ts';
import { needsNoField } from '../form/body.ts';
import { brokenForms, brokenParameters } from '../form/broken-forms.ts';
import { madeUpPath } from './made-up.ts';
import { base } from './planning.ts';
import type { Planning } from './planning.ts';
import { validBody } from './sendable.ts';
import { stepForm } from './step-form.ts';
import { PHASES } from './step.ts';
import type { Step } from './step.ts';

/**
 * Requests without a key and with a wrong one. A service that does not check keys would carry them out, so a change is sent with an identifier
 * that does not exist, or without its body, where that is possible.
 */
export function keySteps(call: Step, planning: Planning): readonly Step[] {
  const { operation, effect } = call;
  if (operation.security === undefined || operation.security.optional) return [];
  return keyVariants(effect === 'reads' ? call : harmless(call, planning));
}

function keyVariants(step: Step): readonly Step[] {
  return [
    { ...step, times: 1, purpose: 'no-key', credential: 'none' },
    // A service may send errors in another type to a client that accepts any.
    { ...step, times: 1, purpose: 'wrong-key', credential: 'wrong', accept: '*/*' },
  ];
}

function harmless(call: Step, planning: Planning): Step {
  const { operation } = call;
  const unknown = canBeUnknown(planning, operation) ? madeUpPath(planning, operation) : undefined;
  if (unknown !== undefined)
    return { ...call, path: unknown, isUnknown: true, form: undefined, detail: 'with an identifier that does not exist' };
  if (hasPathParameters(operation.path) || needsNoField(operation.body)) return call;
  return { ...call, form: undefined, detail: `without the ${operation.body?.format === 'json' ? 'body' : 'form'}` };
}

/** Whether a request may have an identifier that does not exist: it changes nothing, or it may create the resource. */
function canBeUnknown({ names }: Planning, operation: Operation): boolean {
  if (!hasPathParameters(operation.path)) return false;
  return operation.readOnly || operation.method === 'DELETE' || excludesCreation(operation) || names.has(operation.id);
}

export function unknownSteps(planning: Planning, operation: Operation, { form, effect, isUnknown = false }: Step): readonly Step[] {
  const isIdentified = namesResources(planning.operations, operation);
  const path = isIdentified && canBeUnknown(planning, operation) && !isUnknown ? madeUpPath(planning, operation) : undefined;
  if (path === undefined) return [];
  return [
    {
      ...base(planning, operation, effect),
      purpose: 'unknown-id',
      path,
      isUnknown: true,
      form,
      accept: '*/*',
      detail: 'an identifier that does not exist',
      // In a full run, reads come first, because they show that the identifier does not exist.
      phase: planning.mode === 'read-only' ? PHASES.probe : operation.readOnly ? PHASES.read : PHASES.create,
    },
  ];
}

/** Undescribed methods. PATCH can change something, so it is sent only to what the run made. */
export function methodSteps(planning: Planning, operation: Operation): readonly Step[] {
  const { operations, mode, allowed } = planning;
  const first = operations.find(({ path }) => path === operation.path);
  const isBelow = hasPathParameters(operation.path);
  const path = isBelow ? madeUpPath(planning, operation) : 'none';
  if (first?.id !== operation.id || path === undefined) return [];
  const isMade = operations.some((one) => allowed.has(one.id) && isCreation(one, operations) && itemIn(operation.path, one) !== undefined);
  const match = createMatcher(operations);
  const filled = fillPath(operation.path, path === 'none' ? {} : path);
  return (
    ['GET', ...(mode === 'full' && isMade ? ['PATCH'] : [])]
      // The path may match another operation: GET /things/search is also GET /things/{id}.
      .filter((method) => match(method, filled) === undefined)
      .map((method) => ({
        ...base(planning, operation, method === 'GET' ? 'reads' : 'changes'),
        method,
        parameters: NO_PARAMETERS,
        purpose: 'method' as const,
        path: method === 'GET' ? path : 'own',
        detail: 'an undescribed method',
        phase: PHASES.probe,
      }))
  );
}

export function brokenSteps(planning: Planning, operation: Operation): readonly Step[] {
  const valid = validBody(planning, operation);
  if (operation.body === undefined || valid === undefined || operation.body.isWhole) return [];
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

export function brokenParameterSteps(planning: Planning, operation: Operation, call: Step): readonly Step[] {
  const isUnknownAllowed = operation.readOnly || canBeUnknown(planning, operation);
  const broken = brokenParameters(planning, operation, call.parameters).filter(({ path }) => path === undefined || isUnknownAllowed);
  return broken.map(({ parameters, path, detail }) => ({
    ...call,
    purpose: 'invalid-parameter',
    parameters,
    ...(path === undefined ? {} : { path, isUnknown: true }),
    detail,
    times: 1,
    phase: PHASES.probe,
  }));
}

/** A read with a NUL character in its last path parameter. Many databases refuse it, and a service must not fail because of that. */
export function nulSteps(planning: Planning, operation: Operation, call: Step): readonly Step[] {
  const last = pathParameters(operation.path).at(-1);
  const path = last === undefined ? undefined : madeUpPath(planning, operation);
  if (last === undefined || path === undefined) return [];
  const broken = { ...path, [last]: `contract${NUL}test` };
  return [
    {
      ...call,
      purpose: 'invalid-parameter',
      path: broken,
      isUnknown: true,
      detail: `the path parameter ${last} with a NUL character`,
      times: 1,
      phase: PHASES.probe,
    },
  ];
}

const NUL = '\u0000';
