/** Rendered invoice documents. Each is rendered once and never changes. */
export interface InvoiceDocumentsTable {
  invoice_id: string;
  /** The PDF, base64. */
  pdf: string;
}
