import type { SecurityKey } from '../document/operation.ts';
import { fillPath } from '../document/path-template.ts';
import { attachCredential } from '../exchange/credential.ts';
import type { PathValues } from '../exchange/discover.ts';
import type { QueryPair } from '../exchange/paging.ts';
import { contentTypeOf, isMultipart, toMultipart } from '../form/multipart.ts';
import { basePath } from './guard.ts';
import type { Step } from './step.ts';

/** The parts of a request. */
export interface RequestParts {
  readonly target: URL;
  readonly step: Step;
  readonly path: PathValues;
  readonly body: string | undefined;
  /** More query parameters than those of the step. */
  readonly query?: readonly QueryPair[] | undefined;
  /** Headers that every request has, except where the operation describes the header itself. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Headers with the entity tag or the time of an earlier response. */
  readonly conditions?: Readonly<Record<string, string>> | undefined;
  /** The key to send for a scheme; undefined for none. */
  readonly keyFor: (key: SecurityKey) => string | undefined;
  readonly signal?: AbortSignal;
}

export function buildRequest({
  target,
  step,
  path,
  body,
  query: more = [],
  conditions = {},
  headers: common = {},
  keyFor,
  signal,
}: RequestParts): Request {
  const { operation } = step;
  const inHeaders = [...operation.parameters, ...(operation.security?.keys ?? [])].filter((one) => one.in === 'header');
  const described = new Set(inHeaders.map(({ name }) => name.toLowerCase()));
  const others = Object.fromEntries(Object.entries(common).filter(([name]) => !described.has(name)));
  const headers = new Headers({ accept: step.accept ?? 'application/json', ...others, ...step.parameters.headers });
  for (const [name, value] of Object.entries(conditions)) headers.set(name, value);
  const query = new URLSearchParams(step.parameters.query.map(([name, value]): [string, string] => [name, value]));
  const cookies = Object.entries(step.parameters.cookies).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  if (cookies.length > 0) headers.set('cookie', cookies.join('; '));
  for (const [name] of more) query.delete(name);
  for (const [name, value] of more) query.append(name, value);
  for (const key of operation.security?.keys ?? []) {
    const text = keyFor(key);
    if (text !== undefined) attachCredential(key, text, { headers, query });
  }
  const filled = fillPath(operation.path, path);
  const url = new URL(`${target.origin}${basePath(target)}${filled}`);
  url.search = query.toString();
  const hasBody = operation.body !== undefined && body !== undefined && step.method !== 'GET';
  if (hasBody) headers.set('content-type', contentTypeOf(operation.body));
  const sent = hasBody && isMultipart(operation.body) ? toMultipart(operation.body, body) : body;
  return new Request(url, {
    method: step.method,
    headers,
    redirect: 'manual',
    ...(hasBody && sent !== undefined ? { body: sent } : {}),
    ...(signal === undefined ? {} : { signal }),
  });
}
