import type { Store } from '../../../store/store.ts';
import { invoiceContent } from './content.ts';
import type { InvoiceRenderer } from './renderer.ts';

/** Returns the document of an invoice. Undefined if the invoice does not exist. */
export type InvoiceDocuments = (invoiceId: string) => Promise<Uint8Array | undefined>;

/** Renders each document when it is first requested, and stores it. Later requests get the same bytes, from every instance. */
export function storedInvoiceDocuments(store: Store, { render }: Pick<InvoiceRenderer, 'render'>): InvoiceDocuments {
  const rendering = new Map<string, Promise<Uint8Array | undefined>>();
  return async (invoiceId) => {
    const stored = await storedDocument(store, invoiceId);
    if (stored) return stored;
    const running = rendering.get(invoiceId) ?? renderAndStore(store, render, invoiceId).finally(() => rendering.delete(invoiceId));
    rendering.set(invoiceId, running);
    return running;
  };
}

async function storedDocument(store: Store, invoiceId: string): Promise<Uint8Array | undefined> {
  const row = await store.read((db) =>
    db.selectFrom('invoice_documents').select('pdf').where('invoice_id', '=', invoiceId).executeTakeFirst(),
  );
  return row && Buffer.from(row.pdf, 'base64');
}

async function renderAndStore(store: Store, render: InvoiceRenderer['render'], invoiceId: string): Promise<Uint8Array | undefined> {
  const content = await store.read((db) => invoiceContent(db, invoiceId));
  if (!content) return undefined;
  const pdf = Buffer.from(await render(content)).toString('base64');
  await store.commit(({ db }) =>
    db
      .insertInto('invoice_documents')
      .values({ invoice_id: invoiceId, pdf })
      // Another instance may have rendered it at the same time.
      .onConflict((conflict) => conflict.column('invoice_id').doNothing())
      .execute(),
  );
  return storedDocument(store, invoiceId);
}
