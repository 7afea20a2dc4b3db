/** The effect of a change of the document on those who use it. */
export type Impact = 'breaking' | 'uncompared' | 'safe' | 'documentation';

/** From the gravest to the mildest. A change that was not compared may break something. */
export const IMPACTS: readonly Impact[] = ['breaking', 'uncompared', 'safe', 'documentation'];

/** One difference between two documents. */
export interface Change {
  readonly impact: Impact;
  /** What changed, as a sentence without a full stop. */
  readonly what: string;
  /** The consequence for users of the generated client. */
  readonly client: string;
  /** JSON pointer into the newer document, or into the older one for parts that were removed. */
  readonly at: string;
  /** Whether `at` points into the older document. */
  readonly isRemoved: boolean;
  /** Every operation that it touches. */
  readonly operations: readonly string[];
}

/** Takes the changes of one operation. */
export type ReportChange = (change: Omit<Change, 'operations' | 'isRemoved'> & { readonly isRemoved?: boolean }) => void;

/** What users have to do about a change that does not concern them. */
export const NOTHING_TO_DO = 'Nothing to do.';
export const NOTHING_CHANGES = 'Nothing changes at run time.';
