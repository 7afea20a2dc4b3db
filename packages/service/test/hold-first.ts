/** Work that ends when a test lets it: it begins before something happens, and ends after it. */
export interface HeldWork<Arguments extends readonly unknown[], Result> {
  /** Does the work. The first call has done it when `done` resolves, and returns its result after `release`. */
  run(...given: Arguments): Promise<Result>;
  readonly done: Promise<void>;
  release(): void;
  /** The calls of `run` so far. */
  calls(): number;
}

/** Holds back the result of the first call. */
export function holdFirst<Arguments extends readonly unknown[], Result>(
  work: (...given: Arguments) => Promise<Result>,
): HeldWork<Arguments, Result> {
  const done = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let calls = 0;
  return {
    async run(...given) {
      calls++;
      const isFirst = calls === 1;
      const result = await work(...given);
      if (isFirst) {
        done.resolve();
        await released.promise;
      }
      return result;
    },
    done: done.promise,
    release: () => released.resolve(),
    calls: () => calls,
  };
}
