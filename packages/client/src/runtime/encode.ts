/** Percent-encodes a text for a form or a path; also the quote that would end an argument of a command line. */
export function encode(text: string): string {
  return encodeURIComponent(text).replaceAll("'", '%27');
}
