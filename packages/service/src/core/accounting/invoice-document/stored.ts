import { Refusal } from '../../../rules/refusal.ts';
import { withinTime } from '../../../rules/within-time.ts';
import type { Db, Store } from '../../../store/store.ts';
import { toCii } from './cii.ts';
import { contentOf, documentOf, issueDocuments } from './issue.ts';
import { readLogo } from './parties.ts';
import type { DocumentRenderer } from './renderer.ts';

/** An issued document as a file. */
export interface DocumentFile {
  readonly number: string;
  readonly bytes: Uint8Array;
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
export function documentXml(store: Store): DocumentFiles {
  return async (id) => {
    const document = await issuedDocument(store, id);
    const content = document && contentOf(document);
    const xml = content && toCii(content);
    if (xml !== undefined) return { number: content?.number ?? '', bytes: Buffer.from(xml) };
    if (!document) return undefined;
    throw new Refusal(
      404,
      'not_found',
      'This document has no XML, because the account had no billing profile when it was issued. Ask the provider to set one before the next invoice.',
    );
  };
}

async function storedFile(store: Store, id: string): Promise<DocumentFile | undefined> {
  const row = await store.read((db) => db.selectFrom('issued_documents').select(['number', 'pdf']).where('id', '=', id).executeTakeFirst());
  return row && row.pdf !== null ? { number: row.number, bytes: Buffer.from(row.pdf, 'base64') } : undefined;
}

async function renderAndStore(store: Store, render: DocumentRenderer['render'], id: string): Promise<DocumentFile | undefined> {
  const document = await issuedDocument(store, id);
  if (!document) return undefined;
  const content = contentOf(document);
  const { logo_hash: hash } = content.seller;
  const logo = hash === undefined ? undefined : await store.read((db) => readLogo(db, hash));
  const pdf = Buffer.from(await render(content, logo)).toString('base64');
  await store.commit(({ db }) =>
    db
      .updateTable('issued_documents')
      .set({ pdf })
      .where('id', '=', id)
      // Another instance may have rendered it at the same time.
      .where('pdf', 'is', null)
      .execute(),
  );
  return storedFile(store, id);
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
