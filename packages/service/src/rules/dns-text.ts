/** Character strings in the notation of zone files (RFC 1035, 5.1). */

const ALL_QUOTED = /^\s*(?:"(?:[^"\\]|\\.)*"\s*)+$/;
const QUOTED = /\s*"((?:[^"\\]|\\.)*)"/gy;
const CONTROL = /\p{Cc}/u;

/** The text of a TXT record: with quotation marks around all of it, the text that they contain. Undefined if an escape in them is wrong. */
export function textOf(data: string): string | undefined {
  if (!ALL_QUOTED.test(data)) return data;
  const parts = [...data.matchAll(QUOTED)].map(([, part = '']) => unescapedBytes(part));
  if (parts.includes(undefined)) return undefined;
  const text = utf8Of(Buffer.concat(parts.filter((part) => part !== undefined)));
  return text === undefined || CONTROL.test(text) ? undefined : text;
}

/** The notation of a text that `textOf` reads as this text: the text itself, unless it looks quoted or is empty. */
export function notationOf(text: string): string {
  return text === '' || ALL_QUOTED.test(text) ? quoted(text) : text;
}

/** A character string in quotation marks. */
export function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** The printable ASCII text of one character string, with or without quotation marks. Undefined if it is anything else. */
export function stringOf(data: string): string | undefined {
  const [, inner] = /^"((?:[^"\\]|\\.)*)"$/.exec(data) ?? [];
  if (inner === undefined && data.includes('"')) return undefined;
  const text = unescapedBytes(inner ?? data)?.toString('latin1');
  return text !== undefined && /^[ -~]{0,255}$/.test(text) ? text : undefined;
}

/** The words of a text. A word can have a part in quotation marks, which contains blanks. Undefined if a quotation mark has no other. */
export function wordsOf(data: string): string[] | undefined {
  const found = [...data.matchAll(/\s*((?:[^\s"\\]|\\.|"(?:[^"\\]|\\.)*")+)/gy)];
  const length = found.reduce((sum, [text]) => sum + text.length, 0);
  return data.slice(length).trim() === '' ? found.map(([, word = '']) => word) : undefined;
}

function unescapedBytes(text: string): Buffer | undefined {
  const parts = [...text.matchAll(/\\(\d{3})|\\(\D)|([^\\]+)|\\/gsu)].map(([, decimal, escaped, plain]) => {
    if (decimal !== undefined) return Number(decimal) <= 255 ? Buffer.from([Number(decimal)]) : undefined;
    return escaped === undefined && plain === undefined ? undefined : Buffer.from(escaped ?? plain ?? '');
  });
  return parts.includes(undefined) ? undefined : Buffer.concat(parts.filter((part) => part !== undefined));
}

function utf8Of(bytes: Buffer): string | undefined {
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : undefined;
}
