import type { Answer } from './answer.ts';
import { createJudge, type Judge, type Judged, type JudgeParts } from './judge.ts';
import { secretsOf } from './mask-answer.ts';
import { recordExchange, type RecordedExchange } from './traffic.ts';

/** All that a report needs to know of one answer. */
export interface Review {
  readonly judged: readonly Judged[];
  /** Texts that must stand nowhere in the report. */
  readonly secrets: readonly string[];
  readonly exchange: RecordedExchange;
}

export interface Reviewer {
  readonly judge: Judge;
  /** Worked out once for each answer, so a run does it while it awaits the next one. */
  readonly review: (answer: Answer) => Review;
}

/** A reviewer for the answers of a document's operations. */
export function createReviewer(parts: JudgeParts): Reviewer {
  const { document } = parts;
  const judge = createJudge(parts);
  const reviews = new Map<Answer, Review>();
  return {
    judge,
    review(answer) {
      let review = reviews.get(answer);
      if (review === undefined) {
        review = { judged: judge.one(answer), secrets: secretsOf(document, answer), exchange: recordExchange(document, answer) };
        reviews.set(answer, review);
      }
      return review;
    },
  };
}
