/** A request, checked and written, before anything is sent. */
import { API_KEY_HEADER, VERSION } from '../generated/facts.gen.ts';
import type { FieldError } from '../generated/types.gen.ts';
import { InvalidError } from './errors.ts';
import type { Failure, ResellerError } from './errors.ts';
import type { Refuse } from './form.ts';
import type { CoreConfig, RequestOptions } from './options.ts';
import type { Written } from './writing.ts';

/** A request as it will be sent. */
export interface Prepared {
  /** What may be shown of it. */
  readonly plan: DryRun;
  /** What the document says of it, a letter each: `s` may be sent again, `b` is billable, `r` reads, `k` takes an Idempotency-Key. */
  readonly flags: string;
  readonly options: RequestOptions;
  readonly path: string;
  /** What a form and a key added. */
  readonly written: Written | undefined;
  readonly init: RequestInit;
  /** How often it was sent. */
  attempts: number;
  /** When the present sending began, by the client's clock. */
  began?: number;
  /** An error that tells of the request; a secret is in none of it. */
  readonly fail: Fail;
}

/** Makes an error of a class. */
export type Fail = <E extends ResellerError>(
  Class: new (...input: ConstructorParameters<typeof ResellerError>) => E,
  message: string,
  more?: Partial<Failure>,
  cause?: unknown,
) => E;

/** What is sent, or would have been; a secret is in none of it. */
export interface DryRun {
  /** The operationId of the document. */
  readonly operation: string;
  readonly billable: boolean;
  readonly method: string;
  readonly url: string;
  /** Secrets masked. */
  readonly form: unknown;
  /** The request as a command line. */
  readonly curl: string;
}

/** @throws InvalidError naming every field that breaks a rule. */
export function prepare(config: CoreConfig, method: string, options: RequestOptions): Prepared {
  const { apiKey, appInfo, baseUrl = '' } = config;
  const [operation = '', ...facts] = (options.meta ?? '').split(' ');
  const [flags = ''] = facts;
  const fields: FieldError[] = [];
  const refuse: Refuse = (field, rule, message) => fields.push({ field, rule, message });
  const path = options.fill?.(options, refuse) ?? options.url;
  if (!baseUrl) refuse('baseUrl', 'required', 'is required');
  const url = baseUrl.replace(/\/+$/, '') + path;
  const written = options.write?.(facts, options, refuse);
  const headers: Record<string, string> = {
    accept: 'application/json',
    'user-agent': `reseller-client/${VERSION}${appInfo ? ` ${appInfo.name}/${appInfo.version} (${appInfo.url})` : ''}`,
    ...written?.headers,
    ...(apiKey && { [API_KEY_HEADER]: apiKey }),
    ...Object(options.headers),
  };
  // The generated functions name the type of the body also where there is none.
  if (!written?.body) delete headers['Content-Type'];
  const curl = `curl -X ${method} '${url}' -H "${API_KEY_HEADER}: $API_KEY"${written?.curl ?? ''}`;
  const prepared: Prepared = {
    plan: { operation, billable: /b/.test(flags), method, url, form: written?.form ?? {}, curl },
    flags,
    options,
    path,
    written,
    init: { method, headers, body: written?.body || null, redirect: 'manual' },
    attempts: 0,
    fail: (Class, message, more, cause) => new Class(message, { operation, attempts: prepared.attempts, curl, ...more }, cause),
  };
  const [first] = fields;
  if (first) throw prepared.fail(InvalidError, `${first.field} ${first.message}`, { fields });
  return prepared;
}
