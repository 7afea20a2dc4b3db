/** A request, checked and written, before anything is sent. */
import { API_KEY_HEADER, VERSION } from '../generated/facts.gen.ts';
import type { FieldError } from '../generated/types.gen.ts';
import { encode } from './encode.ts';
import { InvalidError } from './errors.ts';
import type { Failure, ResellerError } from './errors.ts';
import type { Refuse, Values } from './form.ts';
import type { CoreConfig, RequestOptions } from './options.ts';

/** A request as it will be sent. */
export interface Prepared {
  readonly operation: string;
  /** What the document says of it, a letter each: `s` may be sent again, `b` is billable, `r` reads, `k` takes an Idempotency-Key. */
  readonly flags: string;
  readonly options: RequestOptions;
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly form: Values;
  /** The form without secrets. */
  shown(): unknown;
  readonly key: string;
  readonly init: RequestInit;
  /** How often it was sent. */
  attempts: number;
  /** When the present sending began, by the client's clock. */
  began?: number;
  /** An error that tells of the request; a secret is in none of it. */
  readonly fail: Fail;
  /** The request as a command line, without secrets. */
  curl(): string;
}

/** Makes an error of a class. */
export type Fail = <E extends ResellerError>(
  Class: new (...input: ConstructorParameters<typeof ResellerError>) => E,
  message: string,
  more?: Partial<Failure>,
  cause?: unknown,
) => E;

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
  const { apiKey, appInfo, baseUrl = '' } = config;
  const { meta = '', forms, idempotencyKey: key = crypto.randomUUID() } = options;
  const [operation = '', flags = '', ...kinds] = meta.split(' ');
  const fields: FieldError[] = [];
  const refuse: Refuse = (field, rule, message) => fields.push({ field, rule, message });
  const pathValues = valuesOf(options.path);
  const path = options.url.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = String(pathValues[name] ?? '');
    // A dot segment would be another path.
    if (!/^(\.{0,2}|NaN|-?Infinity|\[object .*)$/.test(text) && text.isWellFormed()) return encode(text);
    refuse(name, 'type', 'is no identifier');
    return '';
  });
  const form = valuesOf(options.body);
  const body = forms?.write(kinds, form, refuse) ?? '';
  const url = baseUrl.replace(/\/+$/, '') + path;
  const keyed = /k/.test(flags) && { [KEY]: key };
  const headers: Record<string, string> = {
    accept: 'application/json',
    'user-agent': `reseller-client/${VERSION}${appInfo ? ` ${appInfo.name}/${appInfo.version} (${appInfo.url})` : ''}`,
    ...keyed,
    ...(apiKey && { [API_KEY_HEADER]: apiKey }),
    ...valuesOf<string>(options.headers),
  };
  // The generated functions name the type of the body also where there is none.
  if (!body) delete headers['Content-Type'];
  const shown = () => forms?.redact(form) ?? form;
  const prepared: Prepared = {
    operation,
    flags,
    options,
    method,
    url,
    path,
    form,
    shown,
    key,
    init: { method, headers, redirect: 'manual', ...(body && { body }) },
    attempts: 0,
    fail: (Class, message, more, cause) =>
      new Class(message, { operation, attempts: prepared.attempts, curl: prepared.curl(), ...more }, cause),
    curl: () =>
      `curl -X ${method} '${url}' -H "${API_KEY_HEADER}: $API_KEY"` +
      (keyed ? ` -H '${KEY}: ${key}'` : '') +
      (forms && body ? ` -d '${forms.write(kinds, valuesOf(shown()), () => {})}'` : ''),
  };
  if (!baseUrl) refuse('baseUrl', 'required', 'is missing');
  if (!/^[!-&(-~]{1,255}$/.test(key)) refuse('idempotencyKey', 'pattern', 'is no visible ASCII');
  const [first] = fields;
  if (first) throw prepared.fail(InvalidError, `${first.field} ${first.message}`, { fields });
  return prepared;
}

const KEY = 'Idempotency-Key';

function valuesOf<T>(value: unknown): Record<string, T> {
  return Object.assign({}, value);
}
