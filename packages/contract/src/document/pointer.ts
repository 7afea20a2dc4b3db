import { member, isObject } from './json.ts';

/** Characters that must be escaped in a token. */
const RESERVED = /[~/]/;

function escaped(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Appends unescaped reference tokens to a JSON pointer (RFC 6901, without a leading '#'). */
export function joinPointer(pointer: string, ...tokens: readonly (string | number)[]): string {
  let joined = pointer;
  for (const token of tokens) joined += typeof token === 'string' && RESERVED.test(token) ? `/${escaped(token)}` : `/${token}`;
  return joined;
}

/**
 * The unescaped reference tokens of a JSON pointer.
 * @throws {TypeError} when the text is not a JSON pointer
 */
export function pointerTokens(pointer: string): readonly string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw new TypeError(`"${pointer}" is not a JSON pointer: it must be empty or begin with "/"`);
  return pointer
    .slice(1)
    .split('/')
    .map((token) => (token.includes('~') ? token.replaceAll('~1', '/').replaceAll('~0', '~') : token));
}

/** The pointer to the parent; empty for members of the root. */
export function parentPointer(pointer: string): string {
  return pointer.slice(0, Math.max(0, pointer.lastIndexOf('/')));
}

/** The last reference token of a JSON pointer, unescaped; empty for the root. */
export function lastToken(pointer: string): string {
  return pointerTokens(pointer).at(-1) ?? '';
}

/** The value at a JSON pointer, or undefined. */
export function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const token of pointerTokens(pointer)) {
    if (Array.isArray(value)) value = /^(?:0|[1-9][0-9]*)$/.test(token) ? value[Number(token)] : undefined;
    else value = isObject(value) ? member(value, token) : undefined;
    if (value === undefined) return undefined;
  }
  return value;
}
