import { isJsonType } from '../document/media-type.ts';
import type { Operation } from '../document/operation.ts';
import { isEntityTag } from '../document/parameters.ts';
import { hasPathParameters } from '../document/path-template.ts';
import { sampleOf } from '../document/sample.ts';
import { jsonOf } from '../exchange/exchange.ts';
import { stateNames } from './follow.ts';
import { DEFAULT_REQUESTS } from './planning.ts';
import type { Planning } from './planning.ts';
import { canBeEmpty, validBody, validExamples } from './sendable.ts';
import { stepForm } from './step-form.ts';
import { PHASES } from './step.ts';
import type { Step } from './step.ts';
import { variationsOf } from './variations.ts';

/** Valid requests with other values than the plain one. */
export function variationSteps(planning: Planning, operation: Operation, plain: Step): readonly Step[] {
  const sendable = planning.sendable.get(operation.id);
  if (typeof sendable !== 'object') return [];
  const { requests = DEFAULT_REQUESTS } = planning;
  return variationsOf(planning, operation, sendable, requests - 1).map((variation) => ({ ...plain, ...variation, times: 1 }));
}

/** A request for each other described media type of a success, and one for any type, as a browser sends it. */
export function acceptSteps({ responses }: Operation, plain: Step): readonly Step[] {
  const types = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content }]) => Object.keys(content));
  return [...new Set(types.filter((type) => !isJsonType(type) && !type.includes('*'))), '*/*'].map((accept) => ({
    ...plain,
    accept,
    detail: `as ${accept}`,
  }));
}

/** Changes with a stale entity tag and, where the document requires one, without a tag. */
export function preconditionSteps(call: Step): readonly Step[] {
  const tag = call.operation.parameters.find(isEntityTag);
  if (tag === undefined) return [];
  const probe: Step = { ...call, purpose: 'precondition', phase: PHASES.probe, times: 1 };
  return [
    { ...probe, ifMatch: 'stale', detail: 'with a stale If-Match' },
    ...(tag.required ? [{ ...probe, ifMatch: 'missing' as const, detail: 'without If-Match' }] : []),
  ];
}

/** Whether a read can show the progress of work that another operation accepted with 202. */
export function showsProgress({ operations, document }: Planning, { path, responses }: Operation): boolean {
  if (!hasPathParameters(path) || !operations.some((operation) => operation.responses['202'] !== undefined)) return false;
  const pointer = Object.entries(responses).flatMap(([status, response]) => (status.startsWith('2') ? [jsonOf(response)?.pointer] : []))[0];
  return pointer !== undefined && stateNames(document, pointer).length > 0;
}

/** The other examples of the body. The service must accept them too. */
export function otherForms(planning: Planning, operation: Operation): readonly Pick<Step, 'purpose' | 'form' | 'detail'>[] {
  const plain = JSON.stringify(validBody(planning, operation)?.values);
  const examples = validExamples(planning, operation).map(({ name, values }) => ({ values, detail: `the example ${name}` }));
  const empty = canBeEmpty(planning, operation) ? [{ values: {}, detail: 'without any field' }] : [];
  return [...examples, ...empty]
    .filter(({ values }) => JSON.stringify(values) !== plain)
    .map(({ values, detail }) => ({
      purpose: 'valid-form' as const,
      form: stepForm(planning, operation, { values, isFromDocument: true }),
      detail,
    }));
}

/**
 * Each field of a body without required fields, alone and with a valid value. Without these, a service that refuses every value would look right,
 * because it also refuses the invalid ones.
 */
export function singleFieldSteps(planning: Planning, operation: Operation, plain: Step): readonly Step[] {
  const { body } = operation;
  if (body === undefined || !canBeEmpty(planning, operation)) return [];
  const check = planning.validator.compile(body.pointer);
  return [...body.fields.values()]
    .flatMap(({ name, pointer }): readonly Step[] => {
      const sample = sampleOf(planning, pointer);
      const values = { [name]: sample?.value };
      if (sample === undefined || check(values).length > 0) return [];
      const form = stepForm(planning, operation, { values, isFromDocument: sample.isFromDocument });
      return [{ ...plain, purpose: 'valid-form', form, detail: `${name} alone`, times: 1 }];
    })
    .slice(0, (planning.requests ?? DEFAULT_REQUESTS) - 1);
}
