import type { Exchange } from './exchange.ts';
import type { Proposal } from './proposal.ts';
import type { Provenance } from './provenance.ts';

/** How a difference between response and document is judged, by where the document's fact comes from. */
export type Verdict = 'violation' | 'learned' | 'discovered' | 'unverified';

/** From the gravest on. */
export const VERDICTS: readonly Verdict[] = ['violation', 'discovered', 'learned', 'unverified'];

/** The remark of a check about one response, or about several together. */
export interface Remark {
  /** JSON pointer into the body, empty for the response as a whole. */
  readonly pointer: string;
  readonly verdict: Verdict;
  /** Describes the problem without values that differ between responses, so that remarks with the same cause share it. */
  readonly message: string;
  readonly expected: string;
  readonly observed: string;
  /** Where the document states what does not hold: a JSON pointer. Remarks of one check with the same place and rule are one finding. */
  readonly at: string;
  readonly rule: string;
  /** Identifies a cause that shows in several places and replaces `at`, such as a status that many operations lack. */
  readonly cause?: string;
  /** Whether it is listed before the others of its verdict. */
  readonly isUrgent?: boolean;
  /** How the document would have to change to say what was observed; undefined where the service is at fault. */
  readonly proposal?: Proposal | undefined;
}

/** A remark of a check that looks at a whole run, with the response that shows it. */
export interface RunRemark extends Remark {
  readonly exchange: Exchange;
}

/** An operation and status that a finding was seen on. */
export interface Touched {
  readonly operation: string;
  readonly status: number;
  readonly times: number;
}

/** One place where it was seen. */
export interface Sample {
  readonly operation: string;
  readonly status: number;
  readonly pointer: string;
  readonly observed: string;
}

/** One difference between service and document, with all that it was seen on. Secrets are masked in every text. */
export interface Finding {
  /** Stable from run to run, so that a baseline can name it. */
  readonly id: string;
  /** Id of the check that found it. */
  readonly check: string;
  readonly verdict: Verdict;
  /** Whether it is listed before the others of its verdict. */
  readonly isUrgent: boolean;
  /** Whose fault it is, where it is one. */
  readonly about: 'service' | 'client';
  readonly message: string;
  readonly expected: string;
  readonly observed: string;
  /** Where the document states what does not hold: a JSON pointer. */
  readonly at: string;
  readonly touches: readonly Touched[];
  readonly samples: readonly Sample[];
  /** A command that shows it again. */
  readonly curl: string;
  /** The consequence for users of the generated client. */
  readonly client: string;
  /** How the document would have to change to say what was observed; none where the service is at fault. */
  readonly proposals: readonly Proposal[];
}

/** Design: a mismatch with what is shown is a violation; with what is inferred or not shown, something learned. */
export function verdictOf(provenance: Provenance): Verdict {
  return provenance === 'shown' ? 'violation' : 'learned';
}
