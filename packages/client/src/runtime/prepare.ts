/** A call of the reseller API, checked and encoded before anything is sent. */
import { API_KEY_HEADER } from '../generated/document.gen.ts';
import type { FieldError } from '../generated/types.gen.ts';
import { CALL_OPTIONS, checkOptions } from './check-options.ts';
import type { Connection } from './connection.ts';
import { InvalidError } from './errors.ts';
import { encodeText, formText, MASK } from './form.ts';
import type { encodeForm, EncodedField, Refuse, Values } from './form.ts';
import type { Operation } from './operation.ts';
import type { DryRun, RequestOptions } from './options.ts';
import { fillPath } from './path.ts';
import { errorOf } from './request.ts';
import type { Sendable } from './request.ts';

/** A request that was checked and not sent yet. */
export interface Prepared extends Sendable {
  readonly operation: Operation;
  /** Values of the path and of the form, as they were given. */
  readonly path: Values;
  readonly form: Values;
  readonly fields: readonly EncodedField[];
}

/** A call as the generated functions pass it on. */
export interface RequestInput extends RequestOptions {
  readonly client?: unknown;
  readonly url: string;
  readonly path?: Values | undefined;
  readonly body?: Values | undefined;
  /** The facts of the operation. `openapi-ts` gives them the name of its slot for the code of other plugins. */
  readonly requestValidator: Operation;
  /** Encodes the form. Only the functions of operations with a form have it. */
  readonly bodySerializer?: typeof encodeForm;
}

/** @throws InvalidError naming every value that breaks a rule. */
export function prepare({ base }: Connection, method: string, input: RequestInput): Prepared {
  const { client: _, url: template, path = {}, body: form = {}, requestValidator: operation, bodySerializer, ...options } = input;
  checkOptions('A call', options, CALL_OPTIONS);
  const issues: FieldError[] = [];
  const refuse: Refuse = (field, rule, message) => void issues.push({ field, rule, message });
  const url = base + fillPath(template, path, refuse);
  const fields = bodySerializer?.(operation, form, refuse) ?? [];
  const idempotencyKey = operation.effect === 'read' ? undefined : keyOf(options.idempotencyKey ?? crypto.randomUUID(), refuse);
  const curl = curlOf(method, url, idempotencyKey, fields);
  const prepared = {
    operation,
    method,
    url,
    body: formText(fields),
    curl,
    idempotencyKey,
    options,
    path,
    form,
    values: { ...path, ...form },
    fields,
  };
  if (issues.length > 0) {
    const message = issues.map((issue) => `${issue.field} ${issue.message}`).join('; ');
    throw errorOf(prepared, { Class: InvalidError, message, details: { fields: issues } });
  }
  return prepared;
}

function keyOf(key: unknown, refuse: Refuse): string | undefined {
  const text = typeof key === 'string' ? encodeText(key) : undefined;
  if (!text) refuse('idempotencyKey', 'type', 'must be a text that is not empty');
  return text;
}

/** A request without secrets. */
export function dryRunOf({ operation, method, url, fields, curl }: Prepared): DryRun {
  const form = Object.fromEntries(fields.map(({ name, shown }) => [name, shown]));
  return { operation: operation.id, billable: operation.effect === 'purchase', method, url, form, curl };
}

/** Single quotes prevent a shell from interpreting the values. No value contains a single quote, because `encodeText` encodes it. */
function curlOf(method: string, url: string, idempotencyKey: string | undefined, fields: readonly EncodedField[]): string {
  const body = formText(fields.map(({ name, text, shown }) => ({ name, text: shown === MASK ? MASK : text })));
  return [
    `curl -X ${method} '${url}' -H "${API_KEY_HEADER}: $API_KEY"`,
    ...(idempotencyKey === undefined ? [] : [`-H 'Idempotency-Key: ${idempotencyKey}'`]),
    ...(body === null ? [] : [`-d '${body}'`]),
  ].join(' ');
}
