/** Percent-encodes a text for a form or a path, also the quote that would end an argument of a command line; undefined where half a character is in it. */
export const encode = (text: string): string | undefined =>
  text.isWellFormed() ? encodeURIComponent(text).replaceAll("'", '%27') : undefined;
