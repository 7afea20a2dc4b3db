/** The link to an invoice document. Its signature cannot be guessed, so the link needs no API key. */
import { createHmac } from 'node:crypto';

import { acceptedSecrets, sameHash } from './credentials.ts';
import type { Secrets } from './credentials.ts';

/** The path of invoice documents below the public URL. */
export const DOCUMENTS_PATH = '/invoices';

/**
 * The URL of an invoice document (specification: "Invoice", `invoice`).
 *
 * @param publicUrl Base URL of the service, without a trailing slash.
 */
export function documentLink(publicUrl: string, invoiceId: string, secret: string): string {
  return `${publicUrl}${DOCUMENTS_PATH}/${encodeURIComponent(invoiceId)}.pdf?signature=${signatureOf(invoiceId, secret)}`;
}

/** Whether a signature belongs to the invoice, in constant time. */
export function isSignatureOf(signature: string, invoiceId: string, secrets: Secrets): boolean {
  return acceptedSecrets(secrets).some((secret) => sameHash(signature, signatureOf(invoiceId, secret)));
}

function signatureOf(invoiceId: string, secret: string): string {
  return createHmac('sha256', secret).update(`invoice-document:${invoiceId}`).digest('base64url');
}

/**
 * Checks a configured base URL and removes its trailing slashes.
 *
 * @throws TypeError if it is not an http or https URL with only a scheme, a host and a path.
 */
export function publicUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain =
    url && (url.protocol === 'http:' || url.protocol === 'https:') && !url.search && !url.hash && !url.username && !url.password;
  if (!plain)
    throw new TypeError(
      `The public URL is '${text}'. Set it to the URL at which callers reach the service, such as https://api.example.com, without a query.`,
    );
  return url.href.replace(/\/+$/, '');
}
