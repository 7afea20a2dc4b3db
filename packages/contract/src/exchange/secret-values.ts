import { isObject } from '../document/json.ts';
import { MASK } from '../document/secrets.ts';
import type { Exchange } from './exchange.ts';
import { jsonValue } from './exchange.ts';

/** Last words of property names with a secret. A key can also be an identifier, so it needs a value that is hard to guess. */
const SECRET_WORDS: ReadonlySet<string> = new Set([
  'passphrase',
  'passwd',
  'password',
  'pin',
  'secret',
  'token',
  'credential',
  'credentials',
]);
const KEY_WORDS: ReadonlySet<string> = new Set(['key', 'apikey']);
/** Words before `key` or `token` that make it public. */
const PUBLIC_WORDS: ReadonlySet<string> = new Set(['public', 'page', 'next', 'foreign', 'primary', 'sort']);
/** Shorter texts are not removed from reports and outputs, because they occur in many by chance. */
export const MIN_SECRET_LENGTH = 6;

/** Whether the name of a property, and its value, are those of a secret that the document does not mark. */
export function isNamedSecret(name: string, value: unknown): value is string {
  if (typeof value !== 'string' || value.length < MIN_SECRET_LENGTH || /\s/.test(value)) return false;
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  if (words.some((word) => PUBLIC_WORDS.has(word))) return false;
  return SECRET_WORDS.has(last) || (KEY_WORDS.has(last) && isHardToGuess(value));
}

/** Replaces the secrets that the document does not mark by `***` in a copy of a value. */
export function maskNamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskNamed);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, isNamedSecret(name, item) ? MASK : maskNamed(item)]));
}

/** The secrets in a value that the document does not mark. */
export function namedSecretsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(namedSecretsIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => (isNamedSecret(name, item) ? [item] : namedSecretsIn(item)));
}

const TOKEN = /^[A-Za-z0-9+/_=.:~*-]{16,}$/;
/** Texts of this form are public: UUIDs, times, host names, addresses and versions. */
const PUBLIC_FORM =
  /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$|^\d{4}-\d{2}-\d{2}|^[\d.:TZ+-]+$|^[a-z]+(?:[-_./:](?:[a-z]+|\d+))*$|:\/\//i;
const MIN_BITS = 3;

/** Whether a text looks random: no words, and few repeated characters. */
function isHardToGuess(text: string): boolean {
  if (!TOKEN.test(text) || PUBLIC_FORM.test(text) || !/[0-9]/.test(text) || !/[a-z]/i.test(text)) return false;
  const counts = Map.groupBy(text, (character) => character);
  const bits = [...counts.values()].reduce((sum, { length }) => sum - (length / text.length) * Math.log2(length / text.length), 0);
  return bits >= MIN_BITS;
}

/** Texts that look random and that only one response of a run has, as a service returns a new key or token. An identifier is in several. */
export function randomTextsOnce(exchanges: readonly Exchange[]): readonly string[] {
  const holders = new Map<string, number>();
  const paths = exchanges.map(({ sent }) => decodeURI(new URL(sent.url).pathname)).join('\n');
  for (const exchange of exchanges) {
    const found = new Set<string>();
    addHardToGuess(jsonValue(exchange), found);
    for (const text of found) holders.set(text, (holders.get(text) ?? 0) + 1);
  }
  return [...holders].flatMap(([text, count]) =>
    count === 1 && !paths.includes(text) && !paths.includes(encodeURIComponent(text)) ? [text] : [],
  );
}

function addHardToGuess(value: unknown, found: Set<string>): void {
  if (typeof value === 'string' && isHardToGuess(value)) found.add(value);
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) addHardToGuess(item, found);
}
