import type { OpenApiDocument } from './document.ts';
import type { Answer } from './answer.ts';
import type { MediaType, OperationResponse } from './operation.ts';
import type { Provenance } from './provenance.ts';
import type { Validator } from './validator.ts';

/** How a difference between answer and document is judged, by where the document's fact comes from. */
export type Verdict = 'violation' | 'learned' | 'discovered';

/** One difference between an answer and the document. Secrets are masked in every text. */
export interface Finding {
  /** Id of the check that found it. */
  readonly check: string;
  /** Id of the operation. */
  readonly operation: string;
  readonly status: number;
  /** JSON pointer into the body, empty for the answer as a whole. */
  readonly pointer: string;
  readonly verdict: Verdict;
  readonly message: string;
  readonly expected: string;
  readonly observed: string;
  /** How often it was seen; `pointer` and `observed` are of the first time. */
  readonly times: number;
}

/** What a check reports. */
export interface Remark {
  readonly pointer: string;
  readonly verdict: Verdict;
  readonly message: string;
  readonly expected: string;
  readonly observed: string;
  /** Remarks of one check on one operation and status with the same rule are one finding. */
  readonly rule: string;
}

/** What a check looks at. */
export interface Subject {
  readonly document: OpenApiDocument;
  readonly validator: Validator;
  readonly answer: Answer;
  /** What the document says of the status; undefined where it says nothing. */
  readonly response: OperationResponse | undefined;
  /** The JSON that the document describes for the status. */
  readonly json: MediaType | undefined;
  /** Properties that every JSON answer of the document has: its envelope. */
  readonly envelope: readonly string[];
}

/** One check on one answer. To add one: a file in checks/ that exports it, a line in checks.ts, and a test. */
export interface AnswerCheck {
  readonly id: string;
  /** What it makes sure of, in a sentence. */
  readonly claim: string;
  /** Whether a remark of this check leaves nothing for the later ones to say. */
  readonly isFinal: boolean;
  readonly look: (subject: Subject) => readonly Remark[];
}

/** Design: a mismatch with what is shown is a violation; with what is inferred or not shown, something learned. */
export function verdictOf(provenance: Provenance): Verdict {
  return provenance === 'shown' ? 'violation' : 'learned';
}
