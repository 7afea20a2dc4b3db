/** The PDF of an invoice, as a file of the user. Its URL opens it without a key, so the URL is a secret. */
import { join } from 'node:path';

import { errorText } from '@reseller/contract';
import type { Operation } from '@reseller/contract';

import { stateFolder } from '../folders.ts';
import { writePrivate } from '../private-file.ts';

const TIMEOUT_MS = 20_000;

/**
 * Downloads the PDF of an invoice that an operation returned.
 *
 * @returns What to tell the user; undefined if the result has no PDF
 */
export async function invoiceFile(
  env: NodeJS.ProcessEnv,
  { id }: Operation,
  data: unknown,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (id !== 'getInvoice') return undefined;
  // The member of the reseller API, and that of the operator API.
  const { invoice, document = invoice, number, id: invoiceId }: Readonly<Record<string, unknown>> = Object(data);
  if (typeof document !== 'string' || !URL.canParse(document)) return undefined;
  try {
    const response = await fetch(document, { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const name = String(number ?? invoiceId ?? 'invoice').replaceAll(/[^\w-]/g, '_');
    const file = join(stateFolder(env), 'invoices', `${name}.pdf`);
    writePrivate(file, await response.bytes());
    return `The user can open the PDF in ${file}`;
  } catch (error) {
    return `The PDF could not be downloaded: ${errorText(error)}.`;
  }
}
