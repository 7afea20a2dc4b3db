import { MASK } from '@reseller/contract';

/** Where a command writes, for people. */
export interface Console {
  /** One line, or several, of output. */
  readonly print: (text: string) => void;
  /** A line of progress; the next one may take its place. A passing one is shown only where it does. */
  readonly progress: (line: string, isPassing?: boolean) => void;
}

/** A console that lets neither secrets nor what steers a terminal pass, whatever reaches it. */
export function safeConsole(output: Console, secrets: readonly string[]): Console {
  function clean(text: string): string {
    return withoutSecrets(text, secrets).replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, '\u{FFFD}');
  }
  return { print: (text) => output.print(clean(text)), progress: (line, isPassing) => output.progress(clean(line), isPassing) };
}

/** A text without secrets, as they are and as JSON, XML and URLs would write them. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.filter((secret) => secret !== '').reduce(withoutSecret, text);
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
