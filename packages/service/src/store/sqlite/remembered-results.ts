import type { Runner } from '../prepared.ts';

type Result = ReturnType<Runner['changesOne']>;

/**
 * Remembers the results of expected queries until the next transaction. Every request asks for the version of the catalogue or for due jobs,
 * and only this process changes them.
 *
 * @param runner Runs the queries of a connection that only reads.
 * @param changes The number of changes so far.
 * @param max Maximum number of results. Beyond it, all are forgotten, and their queries run again. Queries for due jobs have new results for
 *   each account every second.
 */
export function rememberResults(runner: Runner, changes: () => number, max: number): Runner {
  const results = new Map<string, Map<string, Result>>();
  let known = changes();
  return {
    ...runner,
    changesOne(statement, contention) {
      if (known !== changes()) {
        results.clear();
        known = changes();
      }
      const ofText = results.get(statement.text) ?? new Map<string, Result>();
      if (ofText.size >= max) ofText.clear();
      results.set(statement.text, ofText);
      const values = statement.values.join('\0');
      const result = ofText.get(values) ?? runner.changesOne(statement, contention);
      ofText.set(values, result);
      return result;
    },
  };
}
