import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import type { Operation, SecurityKey } from '../document/operation.ts';
import { VARIABLE } from '../document/operations.ts';
import { joinPointer, valueAt } from '../document/pointer.ts';

/** A credential cannot be used or renewed; the message says which, and why. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError';
}

/** The credentials of an account, by security scheme. */
export interface Credentials {
  /** The key, token or `user:password` for a scheme; undefined when there is none. */
  keyFor(key: SecurityKey): string | undefined;
  /**
   * Gets a token for a scheme with client credentials when there is none, when it expires soon, or when the service has refused it.
   * @returns whether there is a new token
   * @throws {CredentialError} when the token endpoint gives none
   */
  renew(key: SecurityKey, isRefused: boolean): Promise<boolean>;
}

export interface CredentialOptions {
  readonly document: OpenApiDocument;
  /** The operations that are called. A token gets the scopes that they need. */
  readonly operations: readonly Operation[];
  readonly target: URL;
  /** The credential for schemes that are not in `given`. */
  readonly apiKey: string | undefined;
  /** By the name of the scheme. For OAuth 2 client credentials: `client_id:client_secret`. */
  readonly given: Readonly<Record<string, string>>;
  /** Headers that the user gives, by name in lower case. They can have credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called with each token, which no output may contain. */
  readonly onToken: (token: string) => void;
}

interface Token {
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/** A token that expires within this time is renewed before a request. */
const MARGIN_MS = 10_000;
const TIMEOUT_MS = 10_000;

export function createCredentials(options: CredentialOptions): Credentials {
  const { document, operations, target, apiKey, given, onToken } = options;
  const tokens = new Map<string, Token>();

  async function fetchToken(url: URL, { scheme }: SecurityKey, credential: string): Promise<Token> {
    const scopes = new Set(
      operations.flatMap(({ security }) => security?.keys.flatMap((key) => (key.scheme === scheme ? key.scopes : [])) ?? []),
    );
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scopes.size === 0 ? {} : { scope: [...scopes].join(' ') }) });
    // RFC 6749, section 2.3.1: both parts are form-encoded before they become user and password.
    const parts = [credential.slice(0, credential.indexOf(':')), credential.slice(credential.indexOf(':') + 1)];
    const basic = Buffer.from(parts.map(encodeURIComponent).join(':')).toString('base64');
    const headers = { authorization: `Basic ${basic}`, accept: 'application/json' };
    const request = { method: 'POST', headers, body: form, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) } as const;
    const response = await fetch(url, request).catch((error: unknown) => {
      throw new CredentialError(`The token endpoint ${url.origin}${url.pathname} of ${scheme} does not respond.`, { cause: error });
    });
    const body: unknown = await response.json().catch(() => undefined);
    const text = isObject(body) ? body['access_token'] : undefined;
    if (!isObject(body) || typeof text !== 'string' || text === '')
      throw new CredentialError(
        `The token endpoint ${url.origin}${url.pathname} of ${scheme} returned ${response.status} without a token. Check the client and its secret.`,
      );
    onToken(text);
    const seconds = Number(body['expires_in'] ?? Infinity);
    return { text, expires: Date.now() + (Number.isNaN(seconds) ? Infinity : seconds * 1_000) };
  }

  return {
    keyFor: (key) => tokens.get(key.scheme)?.text ?? given[key.scheme] ?? keyInHeaders(key, options.headers) ?? apiKey,
    async renew(key, isRefused) {
      const { scheme } = key;
      const credential = given[scheme];
      const url = credential?.includes(':') === true ? tokenUrl(document, scheme, target) : undefined;
      const token = tokens.get(scheme);
      if (url === undefined || credential === undefined) return false;
      if (!isRefused && token !== undefined && token.expires - MARGIN_MS > Date.now()) return false;
      tokens.set(scheme, await fetchToken(url, key, credential));
      return true;
    },
  };
}

/** The key of a scheme in headers that the user gives. */
export function keyInHeaders(key: SecurityKey, headers: Readonly<Record<string, string>>): string | undefined {
  const text = key.in === 'header' ? headers[key.name.toLowerCase()] : undefined;
  if (text === undefined || key.kind === 'key') return text;
  const secret = text.replace(/^\S+\s+/, '');
  return key.kind === 'bearer' ? secret : Buffer.from(secret, 'base64').toString();
}

/** The environment variable with the credential of a scheme. */
export function variableOf(scheme: string): string {
  return `CONTRACT_API_KEY_${scheme.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
}

/**
 * The token endpoint of the client credentials flow of a scheme; undefined when the scheme has no such flow.
 * @throws {CredentialError} when the client's secret would be sent in clear text to another machine
 */
function tokenUrl(document: OpenApiDocument, scheme: string, target: URL): URL | undefined {
  const written = valueAt(document, joinPointer('/components/securitySchemes', scheme, 'flows', 'clientCredentials', 'tokenUrl'));
  if (typeof written !== 'string' || !URL.canParse(written, target.href)) return undefined;
  const url = new URL(written, target.href);
  const isLocal = /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !isLocal)
    throw new CredentialError(`The token endpoint ${url.href} of ${scheme} does not use https, so the client's secret is not sent to it.`);
  return url;
}

/** A document in which an operation needs only schemes with a credential, where it allows them. Pointers to schemas stay the same. */
export function withSchemes(document: OpenApiDocument, schemes: readonly string[]): OpenApiDocument {
  if (schemes.length === 0) return document;
  function narrowSecurity(holder: unknown): object {
    const security: unknown = Object(holder).security;
    if (!Array.isArray(security)) return Object(holder);
    const known = security.filter((one) => isObject(one) && Object.keys(one).every((name) => schemes.includes(name)));
    return known.some((one) => Object.keys(one).length > 0) ? { ...Object(holder), security: known } : Object(holder);
  }
  const paths = Object.fromEntries(
    Object.entries(document.paths ?? {}).map(([path, item]) => [
      path,
      Object.fromEntries(Object.entries(Object(item)).map(([key, value]) => [key, isObject(value) ? narrowSecurity(value) : value])),
    ]),
  );
  const written = document.components?.['securitySchemes'];
  const marked = Object.fromEntries(
    Object.entries(isObject(written) ? written : {}).map(([name, scheme]) => [
      name,
      isObject(scheme) && schemes.includes(name) ? { ...scheme, [VARIABLE]: variableOf(name) } : scheme,
    ]),
  );
  const components = { ...document.components, securitySchemes: marked };
  return Object.assign({ ...document }, narrowSecurity(document), { paths, components });
}
