import type { OpenApiDocument } from '../document/document.ts';
import type { Operation } from '../document/operation.ts';
import { isMultipart } from '../form/multipart.ts';
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
  const { security } = operation;
  const { method, headers, body } = sent;
  const key = sent.credential === 'account' ? '$CONTRACT_API_KEY' : 'no-such-key';
  const carrier = sent.credential === 'none' ? undefined : security;
  const url = new URL(sent.url);
  if (security?.in === 'query') url.searchParams.delete(security.name);
  const address = quoted(url.href);
  // curl expands brackets and braces in an address to several requests, unless -g is given.
  const parts = ['curl', '-i', ...(/[[\]{}]/.test(url.href) ? ['-g'] : []), '-X', /^\w+$/.test(method) ? method : quoted(method)];
  // curl accepts any type, and a service may then send another one than to the run.
  const accept = headers['accept'];
  if (accept !== undefined && accept !== '*/*') parts.push('-H', quoted(`accept: ${accept}`));
  for (const header of requiredHeaders(operation, headers)) parts.push('-H', quoted(header));
  const cookies = requiredCookies(operation, headers).map(quoted);
  if (carrier?.in === 'cookie') cookies.push(withKey(`${carrier.name}=`, key));
  else if (carrier?.kind === 'basic') parts.push('-u', userOf(key));
  else if (carrier?.in === 'header') parts.push('-H', withKey(`${carrier.name}: ${carrier.kind === 'bearer' ? 'Bearer ' : ''}`, key));
  if (cookies.length > 0) parts.push('-b', cookies.join("'; '"));
  if (body !== undefined && body !== '') parts.push(...bodyParts(operation, body));
  const query =
    carrier?.in === 'query' ? withKey(`${url.search === '' ? '?' : '&'}${new URLSearchParams({ [carrier.name]: '' })}`, key) : '';
  return [...parts, address + query].join(' ');
}

/** The required headers of an operation, such as a tenant. */
function requiredHeaders({ parameters }: Operation, headers: SentRequest['headers']): readonly string[] {
  return parameters.flatMap(({ in: place, name, required }) => {
    const value = headers[name.toLowerCase()];
    return place === 'header' && required && value !== undefined ? [`${name}: ${value}`] : [];
  });
}

function requiredCookies({ parameters }: Operation, headers: SentRequest['headers']): readonly string[] {
  return parameters.flatMap(({ in: place, name, required }) => {
    const value = place === 'cookie' && required ? cookieIn(headers['cookie'] ?? '', name) : undefined;
    return value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`];
  });
}

/** The content type that curl sends by default. */
const DEFAULT_TYPE = 'application/x-www-form-urlencoded';

function bodyParts({ body: described }: Operation, text: string): readonly string[] {
  const { format, mediaType = DEFAULT_TYPE } = described ?? {};
  // A file is written as text too, which a service that reads files accepts with a name.
  if (described !== undefined && isMultipart(described))
    return [...new URLSearchParams(text)].flatMap(([name, value]) =>
      described.fields.get(name)?.isFile === true
        ? ['-F', quoted(`${name}="${value}";filename=contract-test.txt`)]
        : ['--form-string', quoted(`${name}=${value}`)],
    );
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
