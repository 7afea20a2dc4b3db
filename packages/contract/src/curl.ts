import type { Answer } from './answer.ts';
import type { OpenApiDocument } from './document.ts';
import { maskedForm, maskedUrl } from './mask-answer.ts';

/** A command for a shell that sends the request once more; the key is taken from the environment, secrets of the form are masked. */
export function curlOf(document: OpenApiDocument, answer: Answer): string {
  const { operation, sent } = answer;
  const parts = ['curl', '-i', '-X', sent.method];
  if (operation.security !== undefined && sent.credential !== 'none')
    parts.push(
      '-H',
      sent.credential === 'account'
        ? `"${operation.security.header}: $RESELLER_API_KEY"`
        : quoted(`${operation.security.header}: no-such-key`),
    );
  const body = maskedForm(document, answer);
  if (body !== undefined && body !== '') parts.push('--data', quoted(body));
  return [...parts, quoted(maskedUrl(document, answer))].join(' ');
}

/** A text in single quotes, as POSIX shells take it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
