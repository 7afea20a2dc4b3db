import type { Answer, Sent } from './answer.ts';
import type { OpenApiDocument } from './document.ts';
import { maskedForm, maskedUrl } from './mask-answer.ts';
import type { Operation } from './operation.ts';

/** A command for a shell that sends the request once more. The credential is taken from the environment, secrets of the body are masked. */
export function curlOf(document: OpenApiDocument, answer: Answer): string {
  const { operation, sent } = answer;
  return curlCommand(operation, { ...sent, url: maskedUrl(document, answer), body: maskedForm(document, answer) });
}

/** The same for a request that is not masked any further. */
export function curlCommand(operation: Operation, sent: Pick<Sent, 'method' | 'url' | 'body' | 'credential'>): string {
  const parts = ['curl', '-i', '-X', sent.method];
  const url = new URL(sent.url);
  const { security } = operation;
  if (security?.in === 'query') url.searchParams.delete(security.name);
  let address = quoted(url.href);
  if (security !== undefined && sent.credential !== 'none') {
    const key = sent.credential === 'account' ? '$RESELLER_API_KEY' : 'no-such-key';
    if (security.kind === 'basic') parts.push('-u', `"${key}"`);
    else if (security.in === 'query') address += `"${url.search === '' ? '?' : '&'}${security.name}=${key}"`;
    else if (security.in === 'cookie') parts.push('-b', `"${security.name}=${key}"`);
    else parts.push('-H', `"${security.name}: ${security.kind === 'bearer' ? 'Bearer ' : ''}${key}"`);
  }
  const { body } = sent;
  if (body !== undefined && body !== '') {
    if (operation.body?.format === 'json') parts.push('-H', quoted(`content-type: ${operation.body.mediaType}`));
    parts.push('--data', quoted(body));
  }
  return [...parts, address].join(' ');
}

/** A text in single quotes, as POSIX shells take it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
