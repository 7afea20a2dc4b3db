import { createMatcher } from '../document/match.ts';
import type { Operation } from '../document/operation.ts';
import { NO_PARAMETERS } from '../document/parameters.ts';
import { fillPath, hasPathParameters } from '../document/path-template.ts';
import { needsNoField } from '../form/body.ts';
import { brokenForms, brokenParameters } from '../form/broken-forms.ts';
import { madeUpPath } from './made-up.ts';
import { base } from './planning.ts';
import type { Planning } from './planning.ts';
import { validBody } from './sendable.ts';
import { stepForm } from './step-form.ts';
import { PHASES } from './step.ts';
import type { Step, StepForm } from './step.ts';

export function keySteps(call: Step): readonly Step[] {
  if (call.operation.security === undefined || call.operation.security.optional) return [];
  return [
    { ...call, purpose: 'no-key', credential: 'none' },
    { ...call, purpose: 'wrong-key', credential: 'wrong' },
  ];
}

/** Requests without a valid key that would change nothing even if the service accepted them. */
export function harmlessKeySteps(planning: Planning, operation: Operation): readonly Step[] {
  const path = hasPathParameters(operation.path) ? madeUpPath(planning, operation) : 'none';
  if (path === undefined || (path === 'none' && needsNoField(operation.body))) return [];
  return keySteps({
    ...base(planning, operation, 'reads'),
    purpose: 'no-key',
    path,
    detail:
      path === 'none' ? `without the ${operation.body?.format === 'json' ? 'body' : 'form'}` : 'with an identifier that does not exist',
    phase: PHASES.probe,
  });
}

export function unknownSteps(planning: Planning, operation: Operation, form: StepForm | undefined): readonly Step[] {
  const path = hasPathParameters(operation.path) ? madeUpPath(planning, operation) : undefined;
  if (path === undefined) return [];
  return [
    {
      ...base(planning, operation, 'reads'),
      purpose: 'unknown-id',
      path,
      form,
      detail: 'an identifier that does not exist',
      phase: PHASES.probe,
    },
  ];
}

export function methodSteps(planning: Planning, operation: Operation): readonly Step[] {
  const { operations, mode } = planning;
  const first = operations.find(({ path }) => path === operation.path);
  const path = hasPathParameters(operation.path) ? madeUpPath(planning, operation) : 'none';
  if (first?.id !== operation.id || path === undefined) return [];
  const match = createMatcher(operations);
  const filled = fillPath(operation.path, path === 'none' ? {} : path);
  return (
    ['GET', ...(mode === 'full' ? ['PATCH'] : [])]
      // The path may match another operation: GET /things/search is also GET /things/{id}.
      .filter((method) => match(method, filled) === undefined)
      .map((method) => ({
        ...base(planning, operation, 'reads'),
        method,
        parameters: NO_PARAMETERS,
        purpose: 'method' as const,
        path,
        detail: 'an undescribed method',
        phase: PHASES.probe,
      }))
  );
}

export function brokenSteps(planning: Planning, operation: Operation): readonly Step[] {
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

export function brokenParameterSteps(planning: Planning, operation: Operation, call: Step): readonly Step[] {
  return brokenParameters(planning, operation, call.parameters).flatMap(({ parameters, path, detail }) => ({
    ...call,
    purpose: 'invalid-parameter',
    parameters,
    path: path ?? call.path,
    detail,
    times: 1,
    phase: PHASES.probe,
  }));
}
