import type { SecurityKey } from '../document/operation.ts';

/** The parts of a request that can contain a credential. */
export interface CredentialCarrier {
  readonly url: string;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Encodes a key for its security scheme. For basic authentication the key is `user:password`, or a user without a password. */
export function credentialText({ kind }: SecurityKey, key: string): string {
  if (kind === 'bearer') return `Bearer ${key}`;
  if (kind === 'basic') return `Basic ${Buffer.from(key.includes(':') ? key : `${key}:`).toString('base64')}`;
  return key;
}

/** Adds a key to a request as its security scheme requires. */
export function attachCredential(
  key: SecurityKey,
  secret: string,
  { headers, query }: { readonly headers: Headers; readonly query: URLSearchParams },
): void {
  const text = credentialText(key, secret);
  if (key.in === 'header') headers.set(key.name, text);
  else if (key.in === 'query') query.set(key.name, text);
  else headers.set('cookie', [headers.get('cookie'), `${key.name}=${encodeURIComponent(text)}`].filter(Boolean).join('; '));
}

/** The encoded credential of a request, or undefined. */
export function credentialOf(key: SecurityKey, { url, headers }: CredentialCarrier): string | undefined {
  switch (key.in) {
    case 'header':
      return headers[key.name.toLowerCase()];
    case 'query':
      return URL.canParse(url) ? (new URL(url).searchParams.get(key.name) ?? undefined) : undefined;
    default:
      return cookieIn(headers['cookie'] ?? '', key.name);
  }
}

/** The value of a cookie in a `cookie` header, decoded. */
export function cookieIn(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (pair.slice(0, equals).trim() !== name) continue;
    const raw = pair.slice(equals + 1).trim();
    try {
      return decodeURIComponent(raw);
    } catch {
      return raw;
    }
  }
  return undefined;
}

/** The strings that reveal a credential: its encoded form and the secret in it. */
export function secretsOfCredential({ kind }: SecurityKey, credential: string): readonly string[] {
  // In cookies and queries the key is percent-encoded.
  if (kind === 'key') return [...new Set([credential, encodeURIComponent(credential)])];
  const secret = credential.replace(/^\S+\s+/, '');
  if (kind === 'bearer') return [secret];
  const plain = Buffer.from(secret, 'base64').toString();
  const password = plain.slice(plain.indexOf(':') + 1);
  return [secret, plain, ...(password === '' ? [plain.slice(0, -1)] : [password])];
}
