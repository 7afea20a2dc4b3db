/** A request, checked and written, before anything is sent. */
import { API_KEY_HEADER, VERSION } from '../generated/facts.gen.ts';
import type { FieldError } from '../generated/types.gen.ts';
import { InvalidError } from './errors.ts';
import type { Failure } from './errors.ts';
import { encode } from './encode.ts';
import type { Values } from './form.ts';
import type { CoreConfig, Facts, RequestOptions } from './options.ts';
import { redact } from './redact.ts';

/** A request as it will be sent. */
export interface Prepared {
  readonly facts: Facts;
  readonly options: RequestOptions;
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly pathValues: Values;
  readonly form: Values;
  readonly init: RequestInit;
  /** What an error tells of the request; a secret is in none of it. */
  failure(attempts: number): Failure;
}

/** What a dry run would have sent; a secret is in none of it. */
export interface DryRun {
  readonly operation: string;
  readonly billable: boolean;
  readonly method: string;
  readonly url: string;
  readonly form: unknown;
  readonly curl: string;
}

/** @throws InvalidError naming every field that breaks a rule. */
export function prepare(config: CoreConfig, method: string, options: RequestOptions): Prepared {
  const facts = options.meta ?? { id: `${method} ${options.url}` };
  const fields: FieldError[] = [];
  const refuse = (field: string, rule: string, message: string) => void fields.push({ field, rule, message });
  const { apiKey, appInfo: app, baseUrl = '' } = config;
  const pathValues = valuesOf(options.path);
  const path = options.url.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = String(pathValues[name] ?? '');
    // A dot segment would be another path.
    if (/^(\.{0,2}|NaN|-?Infinity|\[object .*)$/.test(text) || !text.isWellFormed()) refuse(name, 'type', 'is no identifier');
    else return encode(text);
    return '';
  });
  const form = valuesOf(options.body);
  const write = (values: Values, told: typeof refuse) => facts.write?.(facts, values, told) ?? '';
  const body = write(form, refuse);
  const url = baseUrl.replace(/\/+$/, '') + path;
  const key = options.idempotencyKey ?? crypto.randomUUID();
  const headers: Record<string, string> = {
    accept: 'application/json',
    'user-agent': `reseller-client/${VERSION}${app ? ` ${app.name}/${app.version} (${app.url})` : ''}`,
    ...(facts.keyed && { [KEY]: key }),
    ...(apiKey && { [API_KEY_HEADER]: apiKey }),
  };
  // The generated functions name the type of the body also where there is none.
  for (const [name, value] of Object.entries(valuesOf(options.headers))) if (body || name !== 'Content-Type') headers[name] = String(value);
  const failure = (attempts: number): Failure => ({
    operation: facts.id,
    attempts,
    curl:
      `curl -X ${method} '${url}' -H "${API_KEY_HEADER}: $API_KEY"` +
      (facts.keyed ? ` -H '${KEY}: ${key}'` : '') +
      (body && ` -d '${write(valuesOf(redact(form)), () => {})}'`),
  });
  if (!baseUrl) refuse('baseUrl', 'required', 'is missing');
  if (!/^[!-&(-~]{1,255}$/.test(key)) refuse('idempotencyKey', 'pattern', 'is no visible ASCII');
  const [first] = fields;
  if (first)
    throw new InvalidError(`${facts.id}: ${first.field} ${first.message}. Nothing was sent.`, Object.assign(failure(0), { fields }));
  return {
    facts,
    options,
    method,
    url,
    path,
    pathValues,
    form,
    init: { method, headers, redirect: 'manual', ...(body && { body }) },
    failure,
  };
}

const KEY = 'Idempotency-Key';

function valuesOf(value: unknown): Values {
  return Object.assign({}, value);
}
