/**
 * Masks secrets in logs and in refusals. The schema of an operation marks the secrets in its own fields. A secret in another place is
 * found by its name, and the caller's API key is found by its value.
 */
import { MASK, secretNames } from '@reseller/contract';

import { apiKeyHeader, documentedOperations, resellerDocument } from './document.ts';

/** Names that are secret anywhere in the document, normalized. */
const SECRET_NAMES: readonly string[] = [...secretNames(resellerDocument), apiKeyHeader].map(normalized);
const IDENTIFIER = /^[\w.[\]-]{1,64}$/;
/** `name=value` or `"name": "value"` inside a text. A name alone also matches, which keeps the time linear for long names. */
const ASSIGNMENT = /([\w%.[\]-]+)(?:(["']?\s{0,4}[=:]\s{0,4})("(?:[^"\\]|\\.)*"|'[^']*'|["']?[^&;,\s"'}\]]+))?/g;
/** Maximum number of levels of escaping at which a character is found. */
const MAX_ESCAPES = 8;

/** Whether a field with this name may hold a secret. A secret name may be only a part of it, as in `newPassword`. */
export function isSecretName(name: string): boolean {
  const plainName = normalized(name);
  return SECRET_NAMES.some((secret) => plainName.includes(secret));
}

/** A field name for messages and logs. A body that is not a form is parsed as one field, whose name is the whole body. */
export function maskName(name: string): string {
  return isSecretName(name) && !IDENTIFIER.test(name) ? MASK : name;
}

/** A copy of a value in which every field with a secret name is masked, at any depth. */
export function maskByName(value: unknown): unknown {
  if (typeof value === 'string') return maskAssignments(value);
  if (Array.isArray(value)) return value.map(maskByName);
  if (typeof value !== 'object' || value === null) return value;
  const masked: Record<string, unknown> = Object.create(null);
  for (const [name, item] of Object.entries(value)) {
    const isOpen = item === null || !isSecretName(name);
    masked[maskName(name)] = isOpen ? maskByName(item) : MASK;
  }
  return masked;
}

/** Secrets that every key reads: links to the account's own invoices, and the log, whose texts are masked already. */
const READABLE = new Set(['invoice', 'request_body', 'response_body']);
const CREDENTIALS: ReadonlySet<string> = new Set([...secretNames(resellerDocument)].filter((name) => !READABLE.has(name)));

/** The data of a response without passwords and auth codes. Returns the same value if it has none. */
export function withoutCredentials(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(
    ([name, item]) => [name, CREDENTIALS.has(name) && item !== null ? MASK : withoutCredentials(item)] as const,
  );
  if (entries.every(([name, item]) => item === Reflect.get(value, name))) return value;
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

/** The path templates of the document. They contain no values, so they need no masking. */
const DOCUMENTED_PATHS: ReadonlySet<string> = new Set(documentedOperations.map(({ path }) => path));

/** Masks the values of secret names in a path, such as `/vm/create&authcode=x`. */
export function maskPath(path: string): string {
  if (DOCUMENTED_PATHS.has(path)) return path;
  const text = decodedComponent(path);
  const masked = maskAssignments(text);
  return masked === text ? path : encodeURI(masked);
}

/** The beginnings of the API keys and tokens of this service. */
const KEY_PREFIXES = ['rsk_sandbox_', 'rsk_live_', 'rsv_', 'rso_', 'rsw_'];
const KEY_PREFIX = /rs[kvow]_/;
/** Any key or token, with any escapes. Escapes after it are masked too. */
const KEY_OR_TOKEN = new RegExp(
  `(?:${KEY_PREFIXES.map((prefix) => [...prefix].map(patternOf).join('')).join('|')})[A-Za-z0-9%\\\\&#;]+`,
  'gi',
);

/** Masks keys and tokens in a text. */
export type MaskKey = (text: string) => string;

/**
 * Finds keys and tokens of this service in plain text, percent-encoded at several levels, and escaped for JSON or HTML. Finds the
 * caller's own key also in base64 and in hexadecimal.
 *
 * @param key An API key. All its characters are visible ASCII.
 */
export function createKeyMask(key: string): MaskKey {
  const plainKey = key.toLowerCase();
  let wholePattern: RegExp | undefined;
  let recoded: readonly string[] | undefined;
  return (text) => {
    recoded ??= [...base64Of(key), Buffer.from(key).toString('hex')].map((one) => one.toLowerCase());
    const lower = text.toLowerCase();
    const hasEscapes = /[%\\&]/.test(lower);
    const masked = hasEscapes || KEY_PREFIX.test(lower) ? text.replaceAll(KEY_OR_TOKEN, MASK) : text;
    // Few texts may contain the key, so the pattern is built on demand.
    if (!hasEscapes && !lower.includes(plainKey) && !recoded.some((one) => lower.includes(one))) return masked;
    wholePattern ??= new RegExp([...key].map(patternOf).join('') + recoded.map((one) => `|${one}`).join(''), 'gi');
    return masked.replaceAll(wholePattern, MASK);
  };
}

function maskAssignments(text: string): string {
  return text.replaceAll(ASSIGNMENT, (whole: string, name: string, between?: string) =>
    between !== undefined && isSecretName(decodedComponent(name)) ? `${name}${between}${MASK}` : whole,
  );
}

/** A name in lower case, without separators. */
function normalized(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

function decodedComponent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A pattern for a character in any escaping. Every repetition has a limit, because the text is untrusted. */
function patternOf(character: string): string {
  const code = character.charCodeAt(0);
  const hex = code.toString(16).padStart(2, '0');
  const itself = character.replace(/[^\w]/, String.raw`\$&`);
  const percent = `%(?:25){0,${MAX_ESCAPES}}`;
  const inJson = `(?:\\\\|${percent}5c){1,${MAX_ESCAPES}}(?:u00|x)${hex}`;
  const inHtml = `(?:&|${percent}26)(?:#|${percent}23)(?:x0{0,6}${hex}|0{0,6}${code})(?:;|${percent}3b)`;
  return `(?:${itself}|${percent}${hex}|${inJson}|${inHtml})`;
}

/** The part of a text's base64 that does not depend on the surrounding text, for each of the three alignments. */
function base64Of(text: string): readonly string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.from('\0'.repeat(before) + text).toString('base64');
    const from = Math.ceil((before * 4) / 3);
    const rest = (before + text.length) % 3;
    return encoded.slice(from, rest === 0 ? undefined : encoded.length - (rest === 1 ? 3 : 2));
  });
}

/** Limits what the request log stores of a request, so that one API key cannot fill the disk. */

/** Characters of a refused request's form. A form that was carried out is limited by the rules of its fields. */
const MAX_LOGGED_FORM_LENGTH = 4_096;
/** Characters of a name or a value in a form that is cut. */
const MAX_CUT_TEXT_LENGTH = 256;
/** Characters of a path. */
export const MAX_LOGGED_PATH_LENGTH = 1_024;
/** Characters of a successful response that is not shared. A page of the log has 50 of them. */
export const MAX_LOGGED_RESPONSE_LENGTH = 65_536;

/**
 * Cuts a long form. The result is still the JSON text of an object, and says what was left out.
 *
 * @param form JSON text of an object, with its secrets masked.
 */
export function cutForm(form: string): string {
  if (form.length <= MAX_LOGGED_FORM_LENGTH) return form;
  const fields = Object.entries(Object(JSON.parse(form)));
  const shown: string[] = [];
  let length = 0;
  for (const [name, value] of fields) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const field = `${JSON.stringify(cutText(name, MAX_CUT_TEXT_LENGTH))}:${JSON.stringify(cutText(text, MAX_CUT_TEXT_LENGTH))}`;
    if ((length += field.length) > MAX_LOGGED_FORM_LENGTH) break;
    shown.push(field);
  }
  const omitted = fields.length - shown.length;
  if (omitted > 0) shown.push(`"…":"[cut: ${omitted} more ${omitted === 1 ? 'field' : 'fields'}]"`);
  return `{${shown.join(',')}}`;
}

/** The first characters of a long text, and its full length. */
export function cutText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…[cut: ${text.length} characters]`;
}
