import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import { mediaTypeName } from '../document/media-type.ts';
import type { Operation, Parameter, RequestBody } from '../document/operation.ts';
import { responseFor } from '../document/operations.ts';
import { isSpreadName } from '../document/parameters.ts';
import { MASK, maskSecrets } from '../document/secrets.ts';
import { rootView } from '../document/view.ts';
import type { View } from '../document/view.ts';
import { readBody, writeBody } from '../form/body.ts';
import { cookieIn } from './credential.ts';
import { jsonOf } from './exchange.ts';
import type { Exchange } from './exchange.ts';
import { secretsIn } from './observe.ts';
import { maskNamed, namedSecretsIn } from './secret-values.ts';

/** The JSON body of a response without secrets. Undescribed values are masked too, because they could be secrets. */
export function maskedBody(document: OpenApiDocument, exchange: Exchange): unknown {
  if (exchange.body.kind !== 'json') return undefined;
  const pointer = responseSchemaOf(exchange);
  if (pointer === undefined) return maskLeaves(exchange.body.value);
  return maskUnknown(rootView(document, pointer), maskNamed(maskSecrets(document, pointer, exchange.body.value)));
}

/** The body of a request without secrets and undescribed values. */
export function maskedForm(document: OpenApiDocument, { operation, sent }: Exchange): string | undefined {
  const { body, headers } = sent;
  if (body === undefined || body === '') return body;
  const described = operation.body;
  const type = mediaTypeName(headers['content-type'] ?? described?.mediaType ?? '');
  if (described === undefined || type !== mediaTypeName(described.mediaType)) return `(${body.length} characters as ${type}; not recorded)`;
  if (described.isWhole) return maskedWhole(document, described, body);
  const { values, issues } = readBody(operation, body);
  if (issues.some(({ path, keyword }) => path === '' && keyword === 'malformed'))
    return `(${body.length} characters that are not valid ${type}; not recorded)`;
  const masked = maskNamed(maskSecrets(document, described.pointer, values));
  const known = Object.entries(isObject(masked) ? masked : {}).map(([name, value]) => [name, described.fields.has(name) ? value : MASK]);
  return writeBody(operation, Object.fromEntries(known));
}

/** A text, or JSON that is not an object. The values that the document does not describe are masked. */
function maskedWhole(document: OpenApiDocument, { format, pointer }: RequestBody, body: string): string {
  if (format !== 'json') return rootView(document, pointer).nodes.some(({ schema }) => schema['x-secret'] === true) ? MASK : body;
  try {
    return JSON.stringify(maskUnknown(rootView(document, pointer), maskNamed(maskSecrets(document, pointer, JSON.parse(body)))));
  } catch {
    return `(${body.length} characters that are not JSON; not recorded)`;
  }
}

/** The URL of a request without the values of secret and undescribed query parameters. */
export function maskedUrl(document: OpenApiDocument, { operation, sent }: Exchange): string {
  if (!URL.canParse(sent.url)) return sent.url;
  const url = new URL(sent.url);
  for (const name of new Set(url.searchParams.keys())) {
    const parameter = operation.parameters.find((one) => one.in === 'query' && (one.name === name || isSpreadName(document, one, name)));
    if (parameter === undefined || isSecretParameter(document, parameter)) url.searchParams.set(name, MASK);
  }
  return url.href;
}

/** The words of names of headers and cookies with credentials: `token` in `x-access-token`, but not `auth` in `x-author`. */
const SECRET_WORD =
  /^(?:(?:access|api|auth|csrf|id|refresh|secret|session|xsrf)?(?:key|token)|auth|authentication|authorization|cookie|credentials?|pass(?:phrase|word|wd)|secret|sess(?:ion)?(?:id)?|sid)$/;

/** Whether a name has a word for a credential, such as `token` in `x-access-token`. */
export function hasSecretName(name: string): boolean {
  return name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .some((word) => SECRET_WORD.test(word));
}

/** Whether a header has a credential, by the document or by the words of its name in lower case. True and false reveal nothing. */
export function isSecretHeader({ security }: Operation, name: string, value: string): boolean {
  if (security?.keys.some((key) => key.in === 'header' && key.name.toLowerCase() === name) === true) return true;
  // An Idempotency-Key tells requests apart, and gives access to nothing.
  if (name === 'idempotency-key') return false;
  return value !== 'true' && value !== 'false' && !name.startsWith('access-control-') && hasSecretName(name);
}

/** The headers of a request, with credentials and secret parameters masked. */
export function maskedHeaders(document: OpenApiDocument, exchange: Exchange): Readonly<Record<string, string>> {
  const { operation, sent } = exchange;
  return Object.fromEntries(
    Object.entries(sent.headers).map(([name, value]) => {
      if (name === 'cookie') return [name, maskedCookies(document, exchange, value)];
      const parameter = operation.parameters.find((one) => one.in === 'header' && one.name.toLowerCase() === name);
      const isSecret = isSecretHeader(operation, name, value) || (parameter !== undefined && isSecretParameter(document, parameter));
      return [name, isSecret ? MASK : value];
    }),
  );
}

/** The cookies that the document describes as parameters that are not secret. Other cookies could be a session. */
function maskedCookies(document: OpenApiDocument, { operation }: Exchange, header: string): string {
  const shown = operation.parameters
    .filter((one) => one.in === 'cookie' && !hasSecretName(one.name) && !isSecretParameter(document, one))
    .flatMap(({ name }) => {
      const value = cookieIn(header, name);
      return value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`];
    });
  return shown.length === 0 ? MASK : shown.join('; ');
}

/** Whether the document marks a parameter or a header as secret. */
export function isSecretParameter(document: OpenApiDocument, { pointer }: Pick<Parameter, 'pointer'>): boolean {
  return pointer !== undefined && rootView(document, pointer).nodes.some(({ schema }) => schema['x-secret'] === true);
}

/** The secrets of an exchange, to be removed from all reports. */
export function secretsOf(document: OpenApiDocument, exchange: Exchange): readonly string[] {
  const { operation, sent, body } = exchange;
  const pointer = responseSchemaOf(exchange);
  const marked = pointer === undefined || body.kind !== 'json' ? [] : secretsIn(document, pointer, body.value);
  const received = [...marked, ...(body.kind === 'json' ? namedSecretsIn(body.value) : [])];
  if (sent.body === undefined || operation.body === undefined) return received;
  return [...received, ...secretsIn(document, operation.body.pointer, readBody(operation, sent.body).values)];
}

function responseSchemaOf({ operation, status, sent }: Exchange): string | undefined {
  const response = sent.purpose === 'method' ? undefined : responseFor(operation, status);
  return response === undefined ? undefined : jsonOf(response)?.pointer;
}

function maskUnknown(view: View, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item, index) => maskUnknown(view.member(index).view, item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const { view: below, isNamed } = view.member(name);
      return [name, below.nodes.length > 0 || isNamed ? maskUnknown(below, item) : maskLeaves(item)];
    }),
  );
}

function maskLeaves(value: unknown): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(maskLeaves);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, maskLeaves(item)]));
  return MASK;
}
