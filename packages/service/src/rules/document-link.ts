/** The link to an invoice document: whoever has it may read the document, and nobody can guess it. */
import { createHmac } from 'node:crypto';

import { sameHash } from './credentials.ts';

/** Where invoice documents are, below the service's public base URL. */
export const DOCUMENTS_PATH = '/invoices';

/**
 * The URL of an invoice document (specification: "Invoice", `invoice`).
 *
 * @param publicUrl Base URL of the service as callers reach it, without a closing slash.
 */
export function documentLink(publicUrl: string, invoiceId: string, secret: string): string {
  return `${publicUrl}${DOCUMENTS_PATH}/${encodeURIComponent(invoiceId)}.pdf?signature=${signatureOf(invoiceId, secret)}`;
}

/** Whether a signature is the one of the invoice, in a time that tells nothing of it. */
export function isSignatureOf(signature: string, invoiceId: string, secret: string): boolean {
  return sameHash(signature, signatureOf(invoiceId, secret));
}

function signatureOf(invoiceId: string, secret: string): string {
  return createHmac('sha256', secret).update(`invoice-document:${invoiceId}`).digest('base64url');
}

/**
 * A base URL as it was configured, made fit to have paths put behind it.
 *
 * @throws TypeError when it is not an http or https URL of scheme, host and path alone.
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
