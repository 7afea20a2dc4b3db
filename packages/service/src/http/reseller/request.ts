/** The checks of a request before its operation runs. */
import { pointerTokens, readForm } from '@reseller/contract';
import type { Issue, FormReading, Operation } from '@reseller/contract';

import { assertMayBuy } from '../../core/account/spending.ts';
import { FIELD_RULES } from '../../generated/facts.gen.ts';
import { cutText, maskName } from '../../reseller/masking.ts';
import type { MaskKey } from '../../reseller/masking.ts';
import type { FormOf, OperationId, PathOf } from '../../reseller/operation.ts';
import type { BrokenField, FieldRule } from '../../rules/broken-field.ts';
import { sha256 } from '../../rules/credentials.ts';
import { invalid, Refusal } from '../../rules/refusal.ts';
import { mistakesOf } from '../shared/mistakes.ts';
import type { ApiOperation } from './api.ts';
import type { Caller } from './authenticate.ts';

// oxlint-disable-next-line no-control-regex -- finding control characters is the point
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/;

/** Characters of a field's name in a refusal. No field of the document has a longer one. */
const MAX_SHOWN_FIELD_LENGTH = 128;

/** Query parameters that a message lists. */
const MAX_NAMED_PARAMETERS = 50;

/** Characters of a query parameter's name in a message. */
const MAX_SHOWN_NAME_LENGTH = 64;

/**
 * Asserts that the caller may use an operation. It runs before all other checks, so that a refused request does not claim its
 * Idempotency-Key.
 *
 * @throws Refusal 403 if the account is suspended, unless the document describes no 403 for the operation, or if the key may only read and
 *   the operation changes something, or if its spending limit does not allow the operation.
 */
export function assertPermitted(
  { id, operation }: Pick<ApiOperation, 'id' | 'operation'>,
  { isSuspended, mayOnlyRead, spender }: Caller,
): void {
  if (isSuspended && '403' in operation.responses) {
    throw new Refusal(
      403,
      'account_suspended',
      'This account is suspended. Its servers and domains stay as they are. Read its invoices, pay the open ones, and ask the provider to lift the suspension. Then send the request again.',
    );
  }
  if (mayOnlyRead && !operation.readOnly) {
    throw new Refusal(
      403,
      'read_only_key',
      'This API key may only read, and this operation changes something. Send the request with a key that has full access.',
    );
  }
  if (operation.billable) assertMayBuy(spender, id);
}

/**
 * Validates a form against the schema of the document.
 *
 * @throws Refusal 400 if the body is not a form or the operation takes none, 422 with every broken rule.
 */
export function assertForm<Id extends OperationId>(
  { checkForm }: ApiOperation<Id>,
  form: unknown,
  { issues, maxFields }: Pick<BodyReading, 'issues' | 'maxFields'>,
  maskKey: MaskKey,
): asserts form is FormOf<Id> {
  if (maxFields !== undefined) {
    throw new Refusal(
      400,
      'malformed_request',
      `The form has more than ${maxFields} fields. Send only fields that the document describes for this operation, each once.`,
    );
  }
  if (issues.some(({ keyword }) => keyword === 'malformed')) {
    throw new Refusal(
      400,
      'malformed_request',
      "The request body could not be read as a form. Send name=value pairs in UTF-8, percent-encoded and joined with '&'.",
    );
  }
  if (!checkForm) {
    if (typeof form === 'object' && form !== null && Object.keys(form).length === 0) return;
    throw new Refusal(400, 'malformed_request', 'This operation takes no form. Send the request without a body.');
  }
  const broken = [...issues, ...checkForm(form)];
  if (broken.length > 0) throw invalid(mistakesOf(broken).map((mistake) => brokenField(mistake, maskKey)));
}

/**
 * Path parameters are texts. The operation checks whether the named resource exists.
 *
 * @throws Refusal 400 if a path parameter contains a control character.
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
 * Refuses undeclared query parameters. Ignoring a form field in the query would make the operation do something that the caller does not
 * want.
 *
 * @throws Refusal 400 with the query parameters that the document does not declare.
 */
export function assertQuery({ operation }: ApiOperation, query: unknown, maskKey: MaskKey): void {
  const unknown = Object.keys(Object(query)).filter((name) => !operation.parameters.some((one) => one.in === 'query' && one.name === name));
  if (unknown.length === 0) return;
  const shown = unknown.slice(0, MAX_NAMED_PARAMETERS).map((name) => `'${nameForMessage(name, maskKey)}'`);
  throw new Refusal(
    400,
    'malformed_request',
    `This operation has no query parameter ${shown.join(', ')}. ${operation.form ? 'Send fields in the body, as application/x-www-form-urlencoded.' : 'It takes no fields: send the request without a query.'}`,
  );
}

/** A name for a message. It is cut after masking, because the mask would not find a part of a key. */
function nameForMessage(name: string, maskKey: MaskKey): string {
  return maskKey(maskName(name))
    .replaceAll(/[^ -~]/g, '?')
    .slice(0, MAX_SHOWN_NAME_LENGTH);
}

/**
 * The request's Idempotency-Key, or undefined if it was not sent or the operation takes none.
 *
 * @throws Refusal 400 if it does not match the document.
 */
export function idempotencyKeyOf({ checkIdempotencyKey }: ApiOperation, header: string | string[] | undefined): string | undefined {
  if (header === undefined || !checkIdempotencyKey) return undefined;
  const mistakes = checkIdempotencyKey(header);
  if (mistakes.length === 0 && typeof header === 'string') return header;
  const expected = mistakesOf(mistakes)[0]?.message ?? 'must be sent once';
  throw new Refusal(400, 'malformed_request', `The header Idempotency-Key ${expected}. Send a UUID, for example.`);
}

/** Distinguishes requests with the same Idempotency-Key. The order of the form's fields does not matter. */
export function fingerprintOf(method: string, path: string, values: Readonly<Record<string, unknown>>): string {
  const sorted = Object.entries(values).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return sha256(JSON.stringify([method, path, sorted]));
}

/** The name is cut after masking, as in `nameForMessage`. */
function brokenField({ path, keyword, message }: Issue, maskKey: MaskKey): BrokenField {
  const field = cutText(maskKey(maskName(pointerTokens(path).join('/'))), MAX_SHOWN_FIELD_LENGTH);
  return { field, rule: ruleOf(keyword), message };
}

/** The name of the rule for a keyword of JSON Schema. */
function ruleOf(keyword: string): FieldRule {
  const name = keyword === 'additionalProperties' || keyword === 'unevaluatedProperties' ? 'unknown' : keyword;
  const rule = FIELD_RULES.find((listed) => listed === name);
  if (rule === undefined) throw new Error(`The document does not list the rule ${name}. Add it to FieldRule.yaml.`);
  return rule;
}

/** A body that was read as the form of an operation. */
export interface BodyReading extends FormReading {
  /** The fields as they were sent, for the log. */
  readonly sent: Readonly<Record<string, unknown>>;
  /** The number of fields that the form may have, if it has more. Nothing of such a form is read. */
  readonly maxFields?: number;
}

/** Fields that a form may have in addition to those of its operation. The response names the unknown ones. */
const MAX_FURTHER_FIELDS = 16;
const AMPERSAND = 38;

/** The body of a request, as a content type parser returns it. */
export class FormBody {
  readonly reading: BodyReading;

  constructor(reading: BodyReading) {
    this.reading = reading;
  }
}

/** Reads application/x-www-form-urlencoded. If the operation takes no form, the fields are read so that they can be refused. */
export function readFormBody(operation: Operation, bytes: Uint8Array): BodyReading {
  const maxFields = (operation.form?.fields.size ?? 0) + MAX_FURTHER_FIELDS;
  if (hasMoreFields(bytes, maxFields)) return { values: {}, sent: {}, issues: [], maxFields };
  const reading = readForm(operation, bytes);
  return { ...reading, sent: reading.values };
}

function hasMoreFields(bytes: Uint8Array, max: number): boolean {
  let at = -1;
  for (let count = 0; count < max; count++) {
    at = bytes.indexOf(AMPERSAND, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** The readings of requests without a body, which are the same for each operation. */
const withoutBody = new WeakMap<Operation, BodyReading>();

/** The form of a request. Empty if the request has no body. */
export function formOf(operation: Operation, body: unknown): BodyReading {
  if (body instanceof FormBody) return body.reading;
  const reading = withoutBody.get(operation) ?? readFormBody(operation, new Uint8Array());
  withoutBody.set(operation, reading);
  return reading;
}
