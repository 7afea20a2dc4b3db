/** The link to an invoice document. Its signature cannot be guessed, so the link needs no API key until it expires. */
import { createHmac } from 'node:crypto';

import { acceptedSecrets, sameHash } from './credentials.ts';
import type { Secrets } from './credentials.ts';
import { MS_PER_DAY } from './day.ts';

/** The path of invoice documents below the public URL. */
export const DOCUMENTS_PATH = '/invoices';

/** An issued document, and the end of a link to it in seconds since 1970 UTC. */
export interface DocumentAccess {
  readonly documentId: string;
  readonly expires: number;
}

/** The formats of an issued document. */
export type DocumentFormat = 'pdf' | 'xml';

/**
 * The URL of an invoice document (specification: "Invoice", `invoice`).
 *
 * @param publicUrl Base URL of the service, without a trailing slash.
 */
export function documentLink(publicUrl: string, access: DocumentAccess, secret: string, format: DocumentFormat = 'pdf'): string {
  const { documentId, expires } = access;
  const query = new URLSearchParams({ expires: String(expires), signature: linkSignatureOf(access, secret) });
  return `${publicUrl}${DOCUMENTS_PATH}/${encodeURIComponent(documentId)}.${format}?${query.toString()}`;
}

/**
 * The end of a link that is created now, in seconds. It is at midnight UTC, so that links of one day are the same.
 *
 * @param now Milliseconds.
 * @param days The link is valid for at least this time.
 */
export function linkExpiry(now: number, days: number): number {
  return (Math.ceil(now / MS_PER_DAY) + days) * (MS_PER_DAY / 1000);
}

/** Whether a signature belongs to the document and the end of the link, in constant time. */
export function isSignatureOf(signature: string, access: DocumentAccess, secrets: Secrets): boolean {
  return acceptedSecrets(secrets).some((secret) => sameHash(signature, linkSignatureOf(access, secret)));
}

function linkSignatureOf({ documentId, expires }: DocumentAccess, secret: string): string {
  return createHmac('sha256', secret).update(`invoice-document:${expires}:${documentId}`).digest('base64url');
}
