import type { Provenance } from '../document/provenance.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Assertion } from './assertion.ts';
import type { Proposal } from './proposal.ts';
import type { Replay } from './replay.ts';

/** The classification of a difference between response and document, by the provenance of the described fact. */
export type Verdict = 'violation' | 'learned' | 'discovered' | 'unverified';

/** The most severe first. */
export const VERDICTS: readonly Verdict[] = ['violation', 'discovered', 'learned', 'unverified'];

/** A problem that a check reports about a response. */
export interface Remark {
  /** JSON pointer into the body; empty for the whole response. */
  readonly pointer: string;
  readonly verdict: Verdict;
  /** Describes the problem without values of one response, so that remarks with the same cause have the same message. */
  readonly message: string;
  readonly expected: string;
  readonly observed: string;
  /** JSON pointer to the contradicted part of the document. Remarks of one check with the same `at` and `rule` are one finding. */
  readonly at: string;
  readonly rule: string;
  /** Groups remarks instead of `at` when one cause affects several places, such as a status that many operations lack. */
  readonly cause?: string;
  /** Whether it is listed before the others of its verdict. */
  readonly isUrgent?: boolean;
  /** The change that makes the document describe the observation; undefined when the service is wrong. */
  readonly proposal?: Proposal | undefined;
  /** The fact about the response that shows the service is right, for a test without this package; undefined when no such test can say it. */
  readonly assertion?: Assertion | undefined;
  /** The exchanges that show the problem together, if it takes several. The assertion is about the responses to these. */
  readonly shownBy?: readonly Exchange[];
}

/** A remark of a check of a whole run, with the exchange that shows the problem. */
export interface RunRemark extends Remark {
  readonly exchange: Exchange;
}

/** An operation and status with a finding. */
export interface Touched {
  readonly operation: string;
  readonly status: number;
  readonly times: number;
  /** A command that reproduces it. */
  readonly curl: string;
}

/** One occurrence of a finding. */
export interface Sample {
  readonly operation: string;
  readonly status: number;
  readonly pointer: string;
  readonly observed: string;
}

/** One difference between service and document, with all its occurrences. Secrets are masked in every text. */
export interface Finding {
  /** Stable from run to run, so that a baseline can name it. */
  readonly id: string;
  /** Id of the check that found it. */
  readonly check: string;
  readonly verdict: Verdict;
  /** Whether it is listed before the others of its verdict. */
  readonly isUrgent: boolean;
  /** Whether the service or a client is at fault. */
  readonly about: 'service' | 'client';
  readonly message: string;
  readonly expected: string;
  readonly observed: string;
  /** JSON pointer to the contradicted part of the document. */
  readonly at: string;
  readonly touches: readonly Touched[];
  readonly samples: readonly Sample[];
  /** A command that reproduces it. */
  readonly curl: string;
  /** The consequence for users of the generated client. */
  readonly client: string;
  /** The changes that make the document describe the observation; none when the service is wrong. */
  readonly proposals: readonly Proposal[];
  /** The requests and the assertion of a test for it; a text says why there can be none. */
  readonly replay: Replay | string;
}

/** A contradiction of a shown fact is a violation; of an inferred or not shown one, it is learned. */
export function verdictOf(provenance: Provenance): Verdict {
  return provenance === 'shown' ? 'violation' : 'learned';
}
