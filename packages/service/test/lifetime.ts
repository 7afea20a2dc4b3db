/** When the things end that a test starts: with the test, or with its file. */
import { afterAll, onTestFinished } from 'vitest';

type End = () => unknown;

/** Set while something starts that ends with the file. */
let endsOfFile: End[] | undefined;

/** Calls the function when the test has ended, or the file if what starts now is for all of its tests. */
export function whenEnded(end: End): void {
  if (endsOfFile === undefined) onTestFinished(async () => void (await end()));
  else endsOfFile.push(end);
}

/** Starts something when a test first needs it, once for all tests of the file. The tests of a file run one after another. */
export function oncePerFile<T>(start: () => Promise<T>): () => Promise<T> {
  const ends: End[] = [];
  let started: T | undefined;
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });
  return async () => {
    if (started !== undefined) return started;
    endsOfFile = ends;
    try {
      return (started = await start());
    } finally {
      endsOfFile = undefined;
    }
  };
}
