import type { OpenApiDocument } from '../document/document.ts';
import type { Operation } from '../document/operation.ts';
import { isMultipart, partHeadOf } from '../form/multipart.ts';
import { cookieIn } from './credential.ts';
import type { Exchange, SentRequest } from './exchange.ts';
import { maskedForm, maskedHeaders, maskedUrl } from './mask-exchange.ts';
import { unseenAsJson } from './visible.ts';

/** A curl command that repeats the request. It reads the credential from the environment, and secrets are masked. */
export function curlOf(document: OpenApiDocument, exchange: Exchange): string {
  const { operation, sent } = exchange;
  return curlCommand(operation, {
    ...sent,
    url: maskedUrl(document, exchange),
    headers: maskedHeaders(document, exchange),
    body: maskedForm(document, exchange),
  });
}

/** A curl command for a request that is already masked. */
export function curlCommand(operation: Operation, sent: Pick<SentRequest, 'method' | 'url' | 'headers' | 'body' | 'credential'>): string {
  const { method, headers, body, credential } = sent;
  const keys = operation.security?.keys ?? [];
  const url = new URL(sent.url);
  for (const key of keys) if (key.in === 'query') url.searchParams.delete(key.name);
  // curl expands brackets and braces in an address to several requests, unless -g is given.
  const parts = ['curl', '-i', ...(/[[\]{}]/.test(url.href) ? ['-g'] : [])];
  // With -X HEAD, curl waits for a body.
  parts.push(...(method === 'HEAD' ? ['-I'] : ['-X', /^\w+$/.test(method) ? method : quoted(method)]));
  for (const header of shownHeaders(operation, headers)) parts.push('-H', quoted(header));
  const cookies = shownCookies(operation, headers).map(quoted);
  for (const key of credential === 'none' ? [] : keys) {
    const secret = credential === 'account' ? `$${key.variable}` : 'no-such-key';
    if (key.in === 'cookie') cookies.push(withKey(`${key.name}=`, secret));
    else if (key.in === 'query') parts.push('--url-query', withKey(`${new URLSearchParams({ [key.name]: '' })}`, secret));
    else if (key.kind === 'basic') parts.push('-u', userOf(secret));
    else parts.push('-H', withKey(`${key.name}: ${key.kind === 'bearer' ? 'Bearer ' : ''}`, secret));
  }
  if (cookies.length > 0) parts.push('-b', cookies.join("'; '"));
  if (body !== undefined && body !== '') parts.push(...bodyParts(operation, body));
  return [...parts, quoted(url.href)].join(' ');
}

/** Headers that other parts of the command stand for. */
const NOT_SHOWN = new Set(['content-type', 'content-length', 'cookie', 'host', 'connection']);

/** The headers of a request without its credentials. */
function shownHeaders({ parameters, security }: Operation, headers: SentRequest['headers']): readonly string[] {
  const keys = new Set(security?.keys.map(({ name }) => name.toLowerCase()));
  return Object.entries(headers).flatMap(([name, value]) => {
    // curl accepts any type, too.
    if (NOT_SHOWN.has(name) || keys.has(name) || (name === 'accept' && value === '*/*')) return [];
    const written = parameters.find((one) => one.in === 'header' && one.name.toLowerCase() === name)?.name ?? name;
    // curl removes a header without a value, unless a semicolon ends it.
    return [value === '' ? `${written};` : `${written}: ${value}`];
  });
}

function shownCookies({ parameters, security }: Operation, headers: SentRequest['headers']): readonly string[] {
  const keys = new Set(security?.keys.map((key) => key.in === 'cookie' && key.name));
  return parameters.flatMap(({ in: place, name }) => {
    const value = place === 'cookie' && !keys.has(name) ? cookieIn(headers['cookie'] ?? '', name) : undefined;
    return value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`];
  });
}

/** The content type that curl sends by default. */
const DEFAULT_TYPE = 'application/x-www-form-urlencoded';

function bodyParts({ body: described }: Operation, text: string): readonly string[] {
  const { format, mediaType = DEFAULT_TYPE } = described ?? {};
  // A file is written as text too, which a service that reads files accepts with a name.
  if (described !== undefined && isMultipart(described))
    return [...new URLSearchParams(text)].flatMap(([name, value]) => {
      const { filename, type } = partHeadOf(described, name);
      if (type === undefined) return ['--form-string', quoted(`${name}=${value}`)];
      const file = filename === undefined ? '' : `;filename=${filename}`;
      return ['-F', quoted(`${name}="${value.replaceAll(/["\\]/g, '\\$&')}"${file};type=${type}`)];
    });
  const type = mediaType === DEFAULT_TYPE ? [] : ['-H', quoted(`content-type: ${mediaType}`)];
  return [...type, '--data-raw', quoted(format === 'json' ? unseenAsJson(text) : text)];
}

/** User and password. A colon follows a user without a password, because curl would otherwise prompt for one. */
function userOf(key: string): string {
  return key.startsWith('$') ? `"\${${key.slice(1)}%%:*}:$(printf %s "${key}" | cut -sd: -f2-)"` : `${key}:`;
}

/** A text followed by a key as one argument. The key may be a variable and needs double quotes, in which other text is not safe. */
function withKey(text: string, key: string): string {
  return /^[\w .:=?&%-]*$/.test(text) ? `"${text}${key}"` : `${quoted(text)}"${key}"`;
}

/** Quotes a text for POSIX shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
