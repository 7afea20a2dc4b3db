import { MASK } from '@reseller/contract';

/** Where a command writes, for people. */
export interface Console {
  /** One line, or several, of output. */
  readonly print: (text: string) => void;
  /** A line that says how far it is; the next one may take its place. */
  readonly progress: (line: string) => void;
}

/** A console that lets neither a secret nor what steers a terminal pass, whatever reaches it. */
export function guarded(output: Console, secret: string): Console {
  const clean = (text: string): string => withoutSecret(text, secret).replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, '\u{FFFD}');
  return { print: (text) => output.print(clean(text)), progress: (line) => output.progress(clean(line)) };
}

/** A text without a secret, as it is and as JSON, XML and URLs would write it. */
export function withoutSecret(text: string, secret: string): string {
  if (secret === '') return text;
  const forms = new Set([
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
  ]);
  return [...forms].reduce((clean, form) => clean.replaceAll(form, MASK), text);
}
