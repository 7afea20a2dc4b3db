import type { TestModule, Vitest } from 'vitest/node';

/** Whether a run has all test files and was not limited to some names of tests. */
export async function isWholeRun(vitest: Vitest, modules: readonly TestModule[]): Promise<boolean> {
  const all = await vitest.globTestSpecifications();
  return modules.length === all.length && vitest.getRootProject().config.testNamePattern === undefined;
}
