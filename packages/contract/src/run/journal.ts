import type { PathValues } from '../exchange/discover.ts';
import type { Fingerprint } from './fingerprint.ts';

/** A change that a run makes to the account, recorded before and after its request. */
export interface JournalEntry {
  readonly id: string;
  /** Base address. */
  readonly target: string;
  readonly operation: string;
  /**
   * `intended`: the request is about to be sent, or its response is unknown. `done`: it succeeded. `closed`: it failed or was
   * undone. `stays`: it succeeded and cannot be undone.
   */
  readonly state: 'intended' | 'done' | 'closed' | 'stays';
  /** The operation that undoes it, if known. */
  readonly undo?: { readonly operation: string; readonly path: PathValues } | undefined;
  /** The created resource in a readable form: "vmid 48213". */
  readonly made?: string | undefined;
  readonly at: string;
  /** Identifies the account, so that a run with another key leaves its resources alone. */
  readonly account?: string | undefined;
  /** The values of the resource, by which a later run recognises it. */
  readonly fingerprint?: Fingerprint | undefined;
}

/** Stores entries so that they survive a crash. */
export interface Journal {
  /** Returns when the entry is durable. */
  record(entry: JournalEntry): Promise<void>;
  /** The last state of every entry that is `intended` or `done`. */
  open(): Promise<readonly JournalEntry[]>;
}
