import type { OpenApiDocument } from '../document/document.ts';

/**
 * The effect of a change on users of the API: `breaking` on requests and responses ("the wire"), `client-breaking` only on code that calls
 * functions of the generated client, while the same requests and responses stay valid.
 */
export type Impact = 'breaking' | 'client-breaking' | 'uncompared' | 'safe' | 'documentation';

/** The most severe first. A change that was not compared may break something. */
export const IMPACTS: readonly Impact[] = ['breaking', 'client-breaking', 'uncompared', 'safe', 'documentation'];

/** One difference between two documents. */
export interface Change {
  readonly impact: Impact;
  /** What changed, as a sentence without a full stop. */
  readonly what: string;
  /** The consequence for users. */
  readonly client: string;
  /** JSON pointer into the newer document, or into the older one for removed parts. */
  readonly at: string;
  /** Whether `at` points into the older document. */
  readonly isRemoved: boolean;
  /** Every affected operation. */
  readonly operations: readonly string[];
}

/** The place of a change: a pointer into the newer document, or of a removed part into the older one. */
export type ChangePlace = string | { readonly removed: string };

/** Collects a change. */
export type ReportChange = (impact: Impact, at: ChangePlace, what: string, client: string) => void;

/** The consequence of a change that does not affect users. */
export const NOTHING_TO_DO = 'Nothing to do.';
export const NOTHING_CHANGES = 'Nothing changes at run time.';
/** The consequence of changes that break only code. */
export const RECOMPILE = 'does not compile after the next generation; requests stay the same.';

/** Two documents, and what collects the changes of a part of them. */
export interface Documents {
  readonly before: OpenApiDocument;
  readonly after: OpenApiDocument;
  readonly report: ReportChange;
}
