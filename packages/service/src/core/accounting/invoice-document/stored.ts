import { Refusal } from '../../../rules/refusal.ts';
import { withinTime } from '../../../rules/within-time.ts';
import type { Db, Store } from '../../../store/store.ts';
import { documentOf, issueDocuments } from './issue.ts';
import { readLogo } from './parties.ts';
import type { DocumentRenderer } from './renderer.ts';

/** An issued document as a file. */
export interface DocumentFile {
  readonly number: string;
  /** A long file is read part by part. */
  readonly parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Returns the file of an issued document. Undefined if there is no such document. */
export type DocumentFiles = (id: string) => Promise<DocumentFile | undefined>;

/** Clients and proxies commonly give up after 30 seconds. */
const MAX_WAIT_MS = 15_000;

/**
 * Renders each document when it is first requested, and stores it. Later requests get the same bytes, from every instance.
 *
 * @param maxWaitMs The longest wait of a request. The document is drawn on, and a later request gets it.
 */
export function storedDocumentFiles(store: Store, { render }: Pick<DocumentRenderer, 'render'>, maxWaitMs = MAX_WAIT_MS): DocumentFiles {
  const rendering = new Map<string, Promise<DocumentFile | undefined>>();
  return async (id) => {
    const stored = await storedFile(store, id);
    if (stored) return stored;
    const running = rendering.get(id) ?? renderAndStore(store, render, id).finally(() => rendering.delete(id));
    rendering.set(id, running);
    return withinTime(running, maxWaitMs, stillDrawn);
  };
}

function stillDrawn(): never {
  throw new Refusal(503, 'unavailable', 'This document is long, and is still being drawn. Open the link again in a minute.');
}

/** Returns the XML of each document whose buyer has an address. */
export function documentXml(store: Store, { writeXml }: Pick<DocumentRenderer, 'writeXml'>): DocumentFiles {
  return async (id) => {
    const content = await issuedDocument(store, id);
    if (!content) return undefined;
    const bytes = await writeXml(content);
    if (bytes) return { number: content.number, parts: partsOf(store, bytes) };
    throw new Refusal(
      404,
      'not_found',
      'This document has no XML, because the account had no billing profile when it was issued. Ask the provider to set one before the next invoice.',
    );
  };
}

async function storedFile(store: Store, id: string): Promise<DocumentFile | undefined> {
  const row = await store.read((db) =>
    db.selectFrom('issued_documents').select(['number', 'pdf', 'pdf_parts']).where('id', '=', id).executeTakeFirst(),
  );
  if (!row) return undefined;
  const { number, pdf, pdf_parts: count } = row;
  if (pdf !== null) return { number, parts: [Buffer.from(pdf, 'base64')] };
  return count === null ? undefined : { number, parts: storedParts(store, id, count) };
}

async function* storedParts(store: Store, id: string, count: number): AsyncGenerator<Uint8Array> {
  for (let number = 0; number < count; number++) {
    const { pdf } = await store.read((db) =>
      db.selectFrom('document_parts').select('pdf').where('document_id', '=', id).where('number', '=', number).executeTakeFirstOrThrow(),
    );
    yield Buffer.from(pdf, 'base64');
  }
}

async function renderAndStore(store: Store, render: DocumentRenderer['render'], id: string): Promise<DocumentFile | undefined> {
  const content = await issuedDocument(store, id);
  if (!content) return undefined;
  const { logo_hash: hash } = content.seller;
  const logo = hash === undefined ? undefined : await store.read((db) => readLogo(db, hash));
  const pdf = await render(content, logo);
  const parts = partsOf(store, pdf);
  if (parts.length === 1) await keepPdf(store, id, { pdf: base64(pdf) });
  else {
    for (const [number, part] of parts.entries()) await keepPart(store, id, { number, pdf: base64(part) });
    await keepPdf(store, id, { pdf_parts: parts.length });
  }
  return storedFile(store, id);
}

function base64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

/** Views of the bytes, which are not copied. */
function partsOf({ tuning: { documentPartBytes: size } }: Store, bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, part) => bytes.subarray(part * size, (part + 1) * size));
}

function keepPdf(store: Store, id: string, stored: { readonly pdf: string } | { readonly pdf_parts: number }): Promise<unknown> {
  return store.commit(({ db }) =>
    db
      .updateTable('issued_documents')
      .set(stored)
      .where('id', '=', id)
      // Another instance may have rendered it at the same time.
      .where('pdf', 'is', null)
      .where('pdf_parts', 'is', null)
      .execute(),
  );
}

function keepPart(store: Store, id: string, { number, pdf }: { readonly number: number; readonly pdf: string }): Promise<unknown> {
  return store.commit(async ({ db }) => {
    const { account_id } = await db.selectFrom('issued_documents').select('account_id').where('id', '=', id).executeTakeFirstOrThrow();
    await db
      .insertInto('document_parts')
      .values({ document_id: id, number, account_id, pdf })
      // An earlier attempt has rendered the same bytes.
      .onConflict((conflict) => conflict.columns(['document_id', 'number']).doNothing())
      .execute();
  });
}

/** An invoice may be opened before the scheduled jobs have issued its document. */
async function issuedDocument(store: Store, id: string) {
  const issued = await store.read((db) => documentOf(db, id));
  if (issued) return issued;
  await issueDocuments(store);
  const issuedNow = await store.read((db) => documentOf(db, id));
  if (issuedNow || !(await store.read((db) => hasInvoice(db, id)))) return issuedNow;
  throw new Refusal(
    404,
    'not_found',
    'The document of this invoice is not issued yet, because details of the provider or of your billing profile are missing or invalid. ' +
      'Ask the provider to correct them, then open the link again.',
  );
}

async function hasInvoice(db: Db, id: string): Promise<boolean> {
  return (
    (await db.selectFrom('invoices').select('id').where('id', '=', id).where('status', '!=', 'CANCELED').executeTakeFirst()) !== undefined
  );
}
