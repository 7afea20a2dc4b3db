export interface SnapshotsTable {
  name: string;
  /** Milliseconds. */
  taken: number;
}
