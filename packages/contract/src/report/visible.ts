/**
 * Whatever is not seen, or steers what shows it: characters that control a terminal, turn the direction of a text, end a
 * line where none ends, or have no shape. XML and HTML do not even allow some of them. Those that join letters have one.
 */
const UNSEEN = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]--[\n\t\u200C\u200D]]/gv;

/** A text of which every character can be seen: the others are written as JSON writes them, such as `\u202e`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}

/** JSON text in which every character can be seen and pasted: the others are escaped, so that the value is the same. */
export function unseenAsJson(json: string): string {
  return json.replace(UNSEEN, (characters) =>
    Array.from({ length: characters.length }, (_, index) => `\\u${characters.charCodeAt(index).toString(16).padStart(4, '0')}`).join(''),
  );
}
