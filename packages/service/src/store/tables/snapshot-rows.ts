/** The contents of snapshots: the rows of every table, in batches. */
export interface SnapshotRowsTable {
  snapshot: string;
  /** Place of the batch, from 0. */
  position: number;
  table_name: string;
  /** JSON of the rows. */
  rows: string;
}
