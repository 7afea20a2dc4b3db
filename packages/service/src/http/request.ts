/** From an HTTP request to a call: what is checked before an operation is asked. */
import { mediaTypeName, pointerTokens, readForm } from '@reseller/contract';
import type { Issue } from '@reseller/contract';
import type { FastifyRequest } from 'fastify';

import { FIELD_RULES, MAX_NAMED_RULES } from '../generated/facts.gen.ts';
import type { FormOf, OperationId, PathOf } from '../reseller/operation.ts';
import { invalid, Refusal } from '../rules/refusal.ts';
import type { BrokenField, FieldRule } from '../rules/broken-field.ts';
import { sha256 } from '../rules/credentials.ts';
import type { ApiOperation } from './api.ts';
import { readJsonBody, readLenientForm, readMultipartBody } from './lenient/body.ts';
import type { LenientReading } from './lenient/body.ts';
import { lenientBodies } from './lenient/deviation.ts';
import { maskingOf, shownName } from './masking.ts';
import { mistakesOf } from './mistakes.ts';

// oxlint-disable-next-line no-control-regex -- finding control characters is the point
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/;

/** What a body is expected to be, and how it is sent. */
const FORM = "a form. Send name=value pairs in UTF-8, percent-encoded and joined with '&'.";

/** Query parameters that one message names. */
const MAX_NAMED_PARAMETERS = 50;

/** Characters of a query parameter's name that a message repeats. */
const MAX_SHOWN_NAME_LENGTH = 64;

/** Reads the body by the operation's form; a body where the document has none is read too, to be refused. */
export async function readBody({ operation }: ApiOperation, { body, headers, deviations }: FastifyRequest): Promise<LenientReading> {
  const bytes = body instanceof Uint8Array ? body : new Uint8Array();
  if (!deviations) {
    const read = readForm(operation, bytes);
    return { ...read, sent: read.values };
  }
  const { 'content-type': contentType = '' } = headers;
  const kind = body === undefined ? undefined : lenientBodies[mediaTypeName(contentType)];
  if (kind === undefined) return readLenientForm({ operation, bytes, deviations });
  deviations.add(kind);
  const sent = { operation, bytes, deviations };
  return kind === 'json-body' ? readJsonBody(sent) : readMultipartBody(sent, contentType);
}

/**
 * Judges a form by the document's schema.
 *
 * @throws Refusal 400 when the body is not a form or the operation takes none, 422 naming every broken rule.
 */
export function assertForm<Id extends OperationId>(
  { checkForm }: ApiOperation<Id>,
  form: unknown,
  { issues, expected = FORM }: Pick<LenientReading, 'issues' | 'expected'>,
): asserts form is FormOf<Id> {
  if (issues.some(({ keyword }) => keyword === 'malformed')) {
    throw new Refusal(400, 'malformed_request', `The request body could not be read as ${expected}`);
  }
  if (!checkForm) {
    if (typeof form === 'object' && form !== null && Object.keys(form).length === 0) return;
    throw new Refusal(400, 'malformed_request', 'This operation takes no form. Send the request without a body.');
  }
  const broken = mistakesOf([...issues, ...checkForm(form)]);
  if (broken.length > 0) throw invalid(broken.slice(0, MAX_NAMED_RULES).map(brokenField));
}

/**
 * The router gives each parameter of the path as text; what it names is the operation's to find out.
 *
 * @throws Refusal 400 when a path parameter holds a control character.
 */
export function assertPath<Id extends OperationId>(path: unknown): asserts path is PathOf<Id> {
  if (typeof path !== 'object' || path === null) return;
  for (const [name, value] of Object.entries(path)) {
    if (typeof value !== 'string' || !CONTROL_CHARACTERS.test(value)) continue;
    throw new Refusal(
      400,
      'malformed_request',
      `The path parameter ${name} contains a control character. Send the identifier exactly as the service returned it.`,
    );
  }
}

/**
 * A field in the query would be ignored without a word, and the operation would do something else than its caller wants.
 *
 * @throws Refusal 400 naming the query parameters that the document does not declare.
 */
export function assertQuery({ operation }: ApiOperation, query: unknown, apiKey: string): void {
  const declared = new Set(operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name));
  const unknown = Object.keys(Object(query)).filter((name) => !declared.has(name));
  if (unknown.length === 0) return;
  const shown = unknown.slice(0, MAX_NAMED_PARAMETERS).map((name) => `'${nameForMessage(name, apiKey)}'`);
  throw new Refusal(
    400,
    'malformed_request',
    `This operation has no query parameter ${shown.join(', ')}. ${operation.form ? 'Send fields in the body, as application/x-www-form-urlencoded.' : 'It takes no fields: send the request without a query.'}`,
  );
}

/** A name as the caller sent it, short and without what must not be logged. A part of a key would not be found later, so it is cut last. */
function nameForMessage(name: string, apiKey: string): string {
  return maskingOf(apiKey)(shownName(name))
    .replaceAll(/[^ -~]/g, '?')
    .slice(0, MAX_SHOWN_NAME_LENGTH);
}

/**
 * The request's Idempotency-Key; undefined where none was sent or the operation takes none.
 *
 * @throws Refusal 400 when it is not what the document describes.
 */
export function idempotencyKeyOf({ checkIdempotencyKey }: ApiOperation, header: string | string[] | undefined): string | undefined {
  if (header === undefined || !checkIdempotencyKey) return undefined;
  const [mistake] = mistakesOf(checkIdempotencyKey(header));
  if (!mistake && typeof header === 'string') return header;
  const expected = mistake?.message ?? 'must be sent once';
  throw new Refusal(400, 'malformed_request', `The header Idempotency-Key ${expected}. Send a UUID, for example.`);
}

/** Tells a request from others with the same Idempotency-Key; the order of the form's fields does not matter. */
export function fingerprintOf(method: string, path: string, values: Readonly<Record<string, unknown>>): string {
  const sorted = Object.entries(values).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return sha256(JSON.stringify([method, path, sorted]));
}

function brokenField({ path, keyword, message }: Issue): BrokenField {
  return { field: shownName(pointerTokens(path).join('/')), rule: ruleOf(keyword), message };
}

/** The rule that a keyword of the document stands for. */
export function ruleOf(keyword: string): FieldRule {
  const name = keyword === 'additionalProperties' || keyword === 'unevaluatedProperties' ? 'unknown' : keyword;
  const rule = FIELD_RULES.find((listed) => listed === name);
  if (rule === undefined) throw new Error(`The document does not list the rule ${name}. Add it to FieldRule.yaml.`);
  return rule;
}
