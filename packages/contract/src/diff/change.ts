/** The effect of a change on users of the API. */
export type Impact = 'breaking' | 'uncompared' | 'safe' | 'documentation';

/** The most severe first. A change that was not compared may break something. */
export const IMPACTS: readonly Impact[] = ['breaking', 'uncompared', 'safe', 'documentation'];

/** One difference between two documents. */
export interface Change {
  readonly impact: Impact;
  /** What changed, as a sentence without a full stop. */
  readonly what: string;
  /** The consequence for users of the generated client. */
  readonly client: string;
  /** JSON pointer into the newer document, or into the older one for removed parts. */
  readonly at: string;
  /** Whether `at` points into the older document. */
  readonly isRemoved: boolean;
  /** Every affected operation. */
  readonly operations: readonly string[];
}

/** Collects a change of one operation. */
export type ReportChange = (change: Omit<Change, 'operations' | 'isRemoved'> & { readonly isRemoved?: boolean }) => void;

/** The text for a change that does not affect users. */
export const NOTHING_TO_DO = 'Nothing to do.';
export const NOTHING_CHANGES = 'Nothing changes at run time.';
