/**
 * Invisible characters and characters that control the display: they control terminals, change the direction of text or break lines.
 * XML and HTML forbid some of them. Joiners of letters are allowed.
 */
const UNSEEN = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]--[\n\t\u200C\u200D]]/gv;

/** Escapes invisible and control characters as in JSON, such as `\u202e`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}

/** Escapes invisible and control characters in JSON text. The value stays the same, and the text can be copied. */
export function unseenAsJson(json: string): string {
  return json.replace(UNSEEN, (characters) =>
    Array.from({ length: characters.length }, (_, index) => `\\u${characters.charCodeAt(index).toString(16).padStart(4, '0')}`).join(''),
  );
}
