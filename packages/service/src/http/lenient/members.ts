/** Splits a JSON text into texts. Unlike JSON.parse, this keeps the digits of numbers and repeated names. */

/** A member of an object. */
export interface Member {
  readonly name: string;
  /** JSON text of the value. */
  readonly text: string;
}

/** Maximum nesting of a body. Forms need at most two levels. */
const MAX_DEPTH = 16;
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]/g;

/**
 * The members of a JSON object in their order, including repeated names.
 *
 * @returns Undefined if the text is not a JSON object, or is nested too deeply.
 */
export function membersOf(json: string): readonly Member[] | undefined {
  return partsOf(json, '{')?.map(({ name = '', text }) => ({ name, text }));
}

/** The JSON texts of the items of a JSON array, or undefined if the text is not an array. */
export function itemsOf(json: string): readonly string[] | undefined {
  return partsOf(json, '[')?.map(({ text }) => text);
}

interface Part {
  readonly name: string | undefined;
  readonly text: string;
}

function partsOf(json: string, opening: '{' | '['): readonly Part[] | undefined {
  const whole = json.trim();
  if (!whole.startsWith(opening) || !isJson(whole)) return undefined;
  const parts: Part[] = [];
  let depth = 0;
  let name: string | undefined;
  let begin = 1;
  for (const { 0: token, index } of whole.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth++;
    if (depth > MAX_DEPTH) return undefined;
    const isLast = depth === 1 && (token === '}' || token === ']');
    if (depth === 1 && token === ':') {
      name = JSON.parse(whole.slice(begin, index));
      begin = index + 1;
    } else if (depth === 1 && (token === ',' || isLast)) {
      const text = whole.slice(begin, index).trim();
      if (text !== '') parts.push({ name, text });
      begin = index + 1;
    }
    if (token === '}' || token === ']') depth--;
  }
  return parts;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
