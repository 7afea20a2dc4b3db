import type { PathValues } from './discover.ts';

/** A change that a run made to the account, written before and after the request that makes it. */
export interface JournalEntry {
  readonly id: string;
  /** Base address. */
  readonly target: string;
  readonly operation: string;
  /**
   * `intended`: the request is about to leave, or left and its response is not known. `done`: it succeeded. `closed`: it failed,
   * or was undone. `stays`: it succeeded and nothing undoes it.
   */
  readonly state: 'intended' | 'done' | 'closed' | 'stays';
  /** What would undo it, as far as it is known. */
  readonly undo?: { readonly operation: string; readonly path: PathValues } | undefined;
  /** The created object, for people: "vmid 48213". */
  readonly made?: string | undefined;
  readonly at: string;
}

/** Keeps entries so that they survive a crash. */
export interface Journal {
  /** Returns when the entry is durable. */
  record(entry: JournalEntry): Promise<void>;
  /** The last state of every entry that is neither closed nor known to stay. */
  open(): Promise<readonly JournalEntry[]>;
}
