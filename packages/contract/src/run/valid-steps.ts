import { withBody } from '../document/form-fields.ts';
import { isJsonType } from '../document/media-type.ts';
import type { Operation } from '../document/operation.ts';
import { isEntityTag, isIgnorable, takesHeader, writtenSample } from '../document/parameters.ts';
import { hasPathParameters } from '../document/path-template.ts';
import { sampleOf } from '../document/sample.ts';
import { schemaNodes, typesOf } from '../document/schema.ts';
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

/** Requests with headers that a service may ignore, each alone: a range, preferences, and the condition that the resource has changed. */
export function headerSteps(planning: Planning, operation: Operation, plain: Step): readonly Step[] {
  const preferences = operation.parameters.filter(
    (parameter) => isIgnorable(parameter) && !/^(?:if-|accept$|user-agent$)/i.test(parameter.name),
  );
  const steps = preferences.flatMap((parameter): readonly Step[] => {
    const [pair] = parameter.required ? [] : (writtenSample(planning, parameter) ?? []);
    if (pair === undefined) return [];
    const headers = { ...plain.parameters.headers, [parameter.name]: pair[1] };
    return [{ ...plain, parameters: { ...plain.parameters, headers }, detail: `${parameter.name} ${pair[1]}` }];
  });
  const hasCondition = takesHeader(operation, 'if-none-match') || takesHeader(operation, 'if-modified-since');
  return hasCondition ? [...steps, { ...plain, ifChanged: true, detail: 'if it has changed since the latest response' }] : steps;
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

/** A request with the body as each other media type, and for a merge patch one with null for each field that can be null. */
export function otherBodySteps(planning: Planning, operation: Operation, plain: Step): readonly Step[] {
  const steps = (operation.otherBodies ?? []).flatMap(({ mediaType }): readonly Step[] => {
    const other = withBody(operation, mediaType);
    const valid = validBody(planning, other);
    if (valid === undefined) return [];
    const form = valid.whole === undefined ? stepForm(planning, other, valid) : { ...valid, found: {} };
    return [{ ...plain, operation: other, purpose: 'valid-form', form, detail: `as ${mediaType}` }];
  });
  const patch = [operation, ...steps.map((step) => step.operation)].find(({ body }) => body?.mediaType === MERGE_PATCH);
  return [...steps, ...(patch === undefined ? [] : nullSteps(planning, patch, plain))];
}

const MERGE_PATCH = 'application/merge-patch+json';

/** The document itself has these values, because it says which fields can be null. In a merge patch, null removes a field (RFC 7396). */
function nullSteps(planning: Planning, operation: Operation, plain: Step): readonly Step[] {
  const { body } = operation;
  const check = body === undefined ? undefined : planning.validator.compile(body.pointer);
  return [...(body?.fields.values() ?? [])].flatMap(({ name, pointer }): readonly Step[] => {
    const values = { [name]: null };
    if (!typesOf(schemaNodes(planning.document, pointer)).has('null') || check?.(values).length !== 0) return [];
    return [{ ...plain, operation, purpose: 'valid-form', form: { values, found: {}, isFromDocument: true }, detail: `${name} null` }];
  });
}

/** Whether a read can show the progress of work that another operation accepted with 202. */
export function showsProgress({ operations }: Planning, { path }: Operation): boolean {
  return hasPathParameters(path) && operations.some(({ responses }) => responses['202'] !== undefined);
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
