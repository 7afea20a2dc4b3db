/** Characters that change the direction of the text around them, or have no glyph. */
// oxlint-disable-next-line no-misleading-character-class -- each of them is meant on its own
const INVISIBLE = /[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/g;

/** A text from outside in which such characters are visible, as `U+202E`. Otherwise, a person could read another text than the program has. */
export function visible(text: string): string {
  return text.replaceAll(INVISIBLE, (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}
