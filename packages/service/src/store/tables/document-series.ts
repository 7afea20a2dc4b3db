/** The series from which documents get their numbers. A kind without a row uses its default. */
export interface DocumentSeriesTable {
  kind: 'invoice' | 'credit_note';
  prefix: string;
  next_number: number;
  digits: number;
}
