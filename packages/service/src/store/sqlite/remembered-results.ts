import type { Runner } from '../prepared.ts';

type Result = ReturnType<Runner['expectChange']>;

/**
 * Remembers the results of expected queries until the next commit. Every request asks for the version of the catalogue or for due jobs, and
 * only this process changes them.
 *
 * @param runner Runs the queries of a connection that only reads.
 * @param commits The number of commits so far.
 */
export function rememberResults(runner: Runner, commits: () => number): Runner {
  const results = new Map<string, Map<string, Result>>();
  let known = commits();
  return {
    ...runner,
    expectChange(statement, contention) {
      if (known !== commits()) {
        results.clear();
        known = commits();
      }
      const ofText = results.get(statement.text) ?? new Map<string, Result>();
      results.set(statement.text, ofText);
      const values = statement.values.join('\0');
      const result = ofText.get(values) ?? runner.expectChange(statement, contention);
      ofText.set(values, result);
      return result;
    },
  };
}
