/** A long computation. It yields after each small part, so that its caller can let other work run in between. */
export type Computation<Result> = Generator<undefined, Result>;

/** Computes at once. */
export function resultOf<Result>(steps: Computation<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
