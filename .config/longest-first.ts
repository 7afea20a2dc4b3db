import { relative, sep } from 'node:path';

import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/**
 * The slowest files, longest first. Files that wait alternate with files that compute. A fresh clone has no measurements, and without
 * them a run could end with one of these files while the other workers have nothing to do.
 */
const SLOWEST: readonly string[] = [
  'apps/docs/test/guides.test.ts',
  'apps/console/test/console.test.ts',
  'apps/cli/test/commands.test.ts',
  'apps/cli/test/purchase.test.ts',
  '.config/publish/packages.test.ts',
  'packages/service/test/simulator/simulator.test.ts',
  'apps/server/test/faults/database-away.test.ts',
  'apps/docs/test/every-page.test.ts',
  'apps/server/test/faults/drain.test.ts',
  'apps/docs/test/site.test.ts',
  'packages/service/test/instances-sandbox.test.ts',
  'apps/server/test/production.test.ts',
  'apps/server/test/move.test.ts',
  'apps/server/test/start.test.ts',
  'apps/cli/test/mcp.test.ts',
  'apps/server/test/upgrade.test.ts',
  'apps/docs/test/samples.test.ts',
  'packages/service/test/port-timeout.test.ts',
  'apps/contract-tests/test/page/page.test.ts',
  'apps/server/test/faults/lost-commit.test.ts',
  'packages/service/test/hostile-values.test.ts',
  'apps/server/test/faults/instances.test.ts',
  'apps/contract-tests/test/library.test.ts',
  'apps/server/test/faults/kill.test.ts',
  'apps/docs/test/accessibility.test.ts',
  '.config/first-start.test.ts',
  'apps/contract-tests/test/selftest/selftest.test.ts',
  'apps/server/test/faults/failover.test.ts',
  'packages/testing/test/samples.test.ts',
  'apps/server/test/faults/blocked-log.test.ts',
  'apps/contract-tests/test/write.test.ts',
  'apps/server/test/faults/scarce.test.ts',
  'apps/docs/test/served.test.ts',
  'apps/server/test/postgres.test.ts',
  'packages/client/test/package.test.ts',
  'examples/panel/test/panel.test.ts',
  'packages/testing/test/client/exactly-once.test.ts',
  'apps/server/test/faults/clock.test.ts',
  'apps/docs/test/collections.test.ts',
];

/** Starts the files that take longest first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    function rankOf({ moduleId }: TestSpecification): number {
      const rank = SLOWEST.indexOf(relative(root, moduleId).replaceAll(sep, '/'));
      return rank < 0 ? SLOWEST.length : rank;
    }
    // oxlint-disable-next-line unicorn/no-array-sort -- it sorts no array, but returns the order of Vitest: by measurement or size
    const usual = await super.sort(files);
    return usual.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
