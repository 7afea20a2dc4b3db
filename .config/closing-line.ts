import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with one plain line, `N passed, N failed`, and before it the reason of every skipped test. */
export const closingLine: Reporter = {
  onTestRunEnd(modules: readonly TestModule[], errors) {
    const count = { passed: 0, failed: 0, skipped: 0 };
    const skipped: string[] = [];
    for (const module of modules) {
      let ran = false;
      for (const test of module.children.allTests()) {
        ran = true;
        const result = test.result();
        if (result.state === 'passed') count.passed++;
        else if (result.state === 'failed') count.failed++;
        else {
          count.skipped++;
          skipped.push(`skipped: ${test.fullName}: ${('note' in result && result.note) || 'no reason given'}`);
        }
      }
      // A file that could not be loaded has no test that could fail.
      if (!ran && module.errors().length > 0) count.failed++;
    }
    count.failed += errors.length;
    const line = `${count.passed} passed, ${count.failed} failed${count.skipped > 0 ? `, ${count.skipped} skipped` : ''}`;
    process.stdout.write(`${skipped.map((reason) => `${reason}\n`).join('')}\n${line}\n`);
  },
};
