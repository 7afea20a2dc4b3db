import { joinPointer } from './pointer.ts';

const BYTE_ORDER_MARK = '\uFEFF';

/** A parsed JSON text, with facts that the value itself does not show. */
export interface JsonText {
  readonly value: unknown;
  readonly hasByteOrderMark: boolean;
  /** Pointers to members whose name appears twice in one object. Parsers disagree on which of the two counts. */
  readonly duplicates: readonly string[];
}

/**
 * Parses a JSON text, and finds what `JSON.parse` ignores.
 * @throws {SyntaxError} when it is not JSON
 */
export function readJsonText(text: string): JsonText {
  const hasByteOrderMark = text.startsWith(BYTE_ORDER_MARK);
  const plain = hasByteOrderMark ? text.slice(1) : text;
  const value: unknown = JSON.parse(plain);
  return { value, hasByteOrderMark, duplicates: duplicatesIn(plain) };
}

interface Container {
  readonly pointer: string;
  /** Undefined for a list. */
  readonly names: Set<string> | undefined;
  /** Name or index of the current member. */
  key: string | number;
}

/** Strings, structural characters, and the text between them. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^"{}[\],:]+/gy;

function duplicatesIn(text: string): readonly string[] {
  const duplicates = new Set<string>();
  const open: Container[] = [];
  let isName = false;
  for (const [token] of text.matchAll(TOKEN)) {
    const inner = open.at(-1);
    if (token === '{' || token === '[') {
      const pointer = inner === undefined ? '' : joinPointer(inner.pointer, inner.key);
      open.push({ pointer, names: token === '{' ? new Set() : undefined, key: token === '{' ? '' : 0 });
      isName = token === '{';
    } else if (token === '}' || token === ']') {
      open.pop();
      isName = false;
    } else if (token === ',') {
      isName = inner?.names !== undefined;
      if (typeof inner?.key === 'number') inner.key++;
    } else if (token === ':') {
      isName = false;
    } else if (token.startsWith('"') && isName && inner?.names !== undefined) {
      const name: unknown = JSON.parse(token);
      inner.key = String(name);
      if (inner.names.has(inner.key)) duplicates.add(joinPointer(inner.pointer, inner.key));
      inner.names.add(inner.key);
    }
  }
  return [...duplicates];
}
