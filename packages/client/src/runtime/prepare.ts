/** A request, checked and written, before anything is sent. */
import { VERSION } from '../generated/facts.gen.ts';
import type { FieldError } from '../generated/types.gen.ts';
import { InvalidError } from './errors.ts';
import type { Failure } from './errors.ts';
import { writeForm, writePath } from './form.ts';
import type { Values } from './form.ts';
import type { Client, ClientConfig, Facts, Fetch, Recovery, RequestOptions } from './options.ts';
import { redact } from './redact.ts';

/** A client from the inside. */
export interface Sender {
  readonly client: Client;
  readonly config: ClientConfig;
  readonly recovery: Recovery | undefined;
  readonly fetch: Fetch;
}

/** A request as it will be sent. */
export interface Prepared {
  readonly facts: Facts;
  readonly options: RequestOptions;
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly pathValues: Values;
  readonly form: Values;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
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
export function prepare({ config }: Sender, method: string, options: RequestOptions): Prepared {
  const facts = options.meta ?? { id: `${method} ${options.url}` };
  const issues: FieldError[] = [];
  const pathValues = valuesOf(options.path);
  const path = writePath(options.url, pathValues, issues);
  const form = valuesOf(options.body);
  const body = writeForm(facts, form, issues) || undefined;
  const url = `${config.baseUrl?.replace(/\/+$/, '') ?? ''}${path}`;
  const key = facts.keyed ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
  const failure = (attempts: number): Failure => ({
    operation: facts.id,
    attempts,
    curl: `curl -X ${method} '${url}'${(options.security ?? []).map(({ name }) => ` -H "${name}: $API_KEY"`).join('')}${key ? ` -H 'Idempotency-Key: ${key}'` : ''}${body ? ` -d '${writeForm(facts, valuesOf(redact(form)), [])}'` : ''}`,
  });
  if (config.baseUrl === undefined) issues.push({ field: 'baseUrl', rule: 'required', message: 'is missing in the client' });
  if (key !== undefined && !/^[!-~]{1,255}$/.test(key))
    issues.push({ field: 'idempotencyKey', rule: 'pattern', message: 'must be 1 to 255 visible ASCII characters' });
  if (issues.length > 0) throw invalid(issues, failure(0));
  const headers: Record<string, string> = { accept: 'application/json', 'user-agent': userAgent(config) };
  for (const { name } of options.security ?? []) if (config.apiKey) headers[name] = config.apiKey;
  if (key !== undefined) headers['Idempotency-Key'] = key;
  for (const [name, value] of Object.entries(valuesOf(options.headers))) {
    // The generated functions name the type of the body also where there is none.
    if (value !== undefined && (body !== undefined || name !== 'Content-Type')) headers[name] = String(value);
  }
  return { facts, options, method, url, path, pathValues, form, headers, body, failure };
}

function invalid(fields: readonly FieldError[], failure: Failure): InvalidError {
  const [first] = fields;
  return new InvalidError(`${failure.operation}: ${first?.field} ${first?.message}. Nothing was sent.`, Object.assign(failure, { fields }));
}

function userAgent({ appInfo }: ClientConfig): string {
  const app = appInfo ? ` ${appInfo.name}/${appInfo.version ?? '-'}${appInfo.url ? ` (${appInfo.url})` : ''}` : '';
  return `reseller-client/${VERSION}${app}`;
}

function valuesOf(value: unknown): Values {
  return Object.assign({}, value);
}
