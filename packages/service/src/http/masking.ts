/**
 * Takes secrets out of what is logged and out of refusals. The schema of an operation says where its own secrets are; a
 * caller who sends one to the wrong place is covered by its name, and the caller's key by its value.
 */
import document from '@reseller/openapi/openapi.json' with { type: 'json' };
import { MASK, secretNames } from '@reseller/contract';

import { apiKeyHeader } from './api.ts';

/** Names that are secret anywhere in the document, as `plain` writes them. */
const SECRET_NAMES: readonly string[] = [...secretNames(document), apiKeyHeader].map(plain);
const IDENTIFIER = /^[\w.[\]-]{1,64}$/;
/** `name=value` or `"name": "value"` inside a text. A name begins where no name goes on, so that a long one is read once. */
const ASSIGNMENT = /(?<![\w%.[\]-])([\w%.[\]-]+)(["']?\s{0,4}[=:]\s{0,4})("(?:[^"\\]|\\.)*"|'[^']*'|["']?[^&;,\s"'}\]]+)/g;
/** How often a character may be escaped again, and still be found. */
const MAX_ESCAPES = 8;

/** Whether a field of this name may hold a secret: also where a secret's name is only a part of it, as in `newPassword`. */
export function isSecretName(name: string): boolean {
  const written = plain(name);
  return SECRET_NAMES.some((secret) => written.includes(secret));
}

/** A name as it may be shown. A body that is not a form reads as one field whose name is the whole body. */
export function shownName(name: string): string {
  return isSecretName(name) && !IDENTIFIER.test(name) ? MASK : name;
}

/** A copy of what was sent in which the value of every secret name is masked, whatever field or depth it stands at. */
export function maskByName(value: unknown): unknown {
  if (typeof value === 'string') return maskAssignments(value);
  if (Array.isArray(value)) return value.map(maskByName);
  if (typeof value !== 'object' || value === null) return value;
  const masked: Record<string, unknown> = Object.create(null);
  for (const [name, item] of Object.entries(value)) {
    const isOpen = item === null || !isSecretName(name);
    masked[shownName(name)] = isOpen ? maskByName(item) : MASK;
  }
  return masked;
}

/** A path in which the values of secret names are masked, as in `/vm/create&authcode=x`. */
export function maskPath(path: string): string {
  const text = decoded(path);
  const masked = maskAssignments(text);
  return masked === text ? path : encodeURI(masked);
}

/** Masks a caller's key wherever a text holds it. */
export type MaskKey = (text: string) => string;

/**
 * Finds a key as it is, and percent-encoded at any depth, escaped as in JSON or HTML, in base64 or in hexadecimal.
 *
 * @param key The key of the caller, in visible ASCII characters.
 */
export function maskingOf(key: string): MaskKey {
  const plainKey = key.toLowerCase();
  let wholePattern: RegExp | undefined;
  let recoded: readonly string[] | undefined;
  return (text) => {
    recoded ??= [...base64Of(key), Buffer.from(key).toString('hex')].map((one) => one.toLowerCase());
    const lower = text.toLowerCase();
    // Almost no text holds the key: the pattern is made where one could.
    if (!/[%\\&]/.test(lower) && !lower.includes(plainKey) && !recoded.some((one) => lower.includes(one))) return text;
    wholePattern ??= new RegExp([...key].map(anyWriting).join('') + recoded.map((one) => `|${one}`).join(''), 'gi');
    return text.replaceAll(wholePattern, MASK);
  };
}

/** What an error says, for a line of the log: without the values that a database adds to it. */
export function loggableError(error: unknown, maskKey: MaskKey = (text) => text): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { message: maskKey(String(error)) };
  return {
    type: error.name,
    message: maskKey(error.message),
    stack: maskKey(error.stack ?? ''),
    ...('code' in error ? { code: error.code } : {}),
    ...(error.cause === undefined ? {} : { cause: loggableError(error.cause, maskKey) }),
  };
}

function maskAssignments(text: string): string {
  return text.replaceAll(ASSIGNMENT, (whole: string, name: string, between: string) =>
    isSecretName(decoded(name)) ? `${name}${between}${MASK}` : whole,
  );
}

/** A name without what writers of names differ in. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A pattern for a character however it is escaped. Every repetition has a limit: the text is anyone's. */
function anyWriting(character: string): string {
  const code = character.charCodeAt(0);
  const hex = code.toString(16).padStart(2, '0');
  const itself = character.replace(/[^\w]/, String.raw`\$&`);
  const percent = `%(?:25){0,${MAX_ESCAPES}}`;
  const inJson = `(?:\\\\|${percent}5c){1,${MAX_ESCAPES}}(?:u00|x)${hex}`;
  const inHtml = `(?:&|${percent}26)(?:#|${percent}23)(?:x0{0,6}${hex}|0{0,6}${code})(?:;|${percent}3b)`;
  return `(?:${itself}|${percent}${hex}|${inJson}|${inHtml})`;
}

/** The part of a text's base64 that is the same wherever in a longer text it stands: one for each of three positions. */
function base64Of(text: string): readonly string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.from('\0'.repeat(before) + text).toString('base64');
    const from = Math.ceil((before * 4) / 3);
    const rest = (before + text.length) % 3;
    return encoded.slice(from, rest === 0 ? undefined : encoded.length - (rest === 1 ? 3 : 2));
  });
}
