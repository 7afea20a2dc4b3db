/** What a change of the document does to those who use it. */
export type Impact = 'breaking' | 'safe' | 'documentation';

/** From the gravest on. */
export const IMPACTS: readonly Impact[] = ['breaking', 'safe', 'documentation'];

/** One difference between two documents. */
export interface Change {
  readonly impact: Impact;
  /** What changed, as a sentence without a full stop. */
  readonly what: string;
  /** What it means for users of the generated client. */
  readonly client: string;
  /** JSON pointer into the newer document, or into the older one for what is gone. */
  readonly at: string;
  /** Every operation that it touches. */
  readonly operations: readonly string[];
}

/** Takes the changes of one operation. */
export type Tell = (change: Omit<Change, 'operations'>) => void;
