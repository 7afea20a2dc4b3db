import { MASK } from '@reseller/contract';
import { MIN_SECRET_LENGTH } from '@reseller/contract/engine';

/** The output of a command. */
export interface Console {
  /** Prints one or more lines. */
  readonly print: (text: string) => void;
  /** Prints a line of progress, which the next one replaces on a terminal. A passing line is shown only on a terminal. */
  readonly progress: (line: string, isPassing?: boolean) => void;
}

/** A console that masks secrets and replaces control characters. */
export function safeConsole(output: Console, secrets: readonly string[]): Console {
  function clean(text: string): string {
    return withoutSecrets(text, secrets).replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, '\u{FFFD}');
  }
  return { print: (text) => output.print(clean(text)), progress: (line, isPassing) => output.progress(clean(line), isPassing) };
}

/** Masks secrets in a text, including their JSON, XML and URL encodings. Credentials in requests are masked at their place. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.filter(({ length }) => length >= MIN_SECRET_LENGTH).reduce(withoutSecret, text);
}

function withoutSecret(text: string, secret: string): string {
  const forms = new Set([
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
  ]);
  return [...forms].reduce((clean, form) => clean.replaceAll(form, MASK), text);
}
