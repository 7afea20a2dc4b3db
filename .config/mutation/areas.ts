/** The areas of the script `mutate`. */
export interface Area {
  /** Globs of the sources to change. Test files are left out. */
  readonly sources: readonly string[];
  /** Globs of the test files that have to notice the changes. They must run the sources in their own process. */
  readonly tests: readonly string[];
  /** Whether the tests start the service: they need a folder for its stores, and PostgreSQL. */
  readonly startsService: boolean;
  /** The lowest score that passes, in percent. */
  readonly threshold: number;
}

export const areas: Readonly<Record<string, Area>> = {
  rules: {
    sources: ['packages/service/src/rules/*.ts'],
    tests: ['packages/service/src/rules/*.test.ts'],
    startsService: false,
    threshold: 85,
  },
  delivery: {
    sources: ['packages/service/src/delivery/*.ts'],
    tests: ['packages/service/src/delivery/*.test.ts'],
    startsService: true,
    threshold: 85,
  },
  core: {
    sources: ['packages/service/src/core/**/*.ts'],
    tests: ['packages/service/src/{core,reseller}/**/*.test.ts'],
    startsService: true,
    threshold: 85,
  },
  client: {
    sources: ['packages/client/src/{runtime,}/*.ts'],
    tests: ['packages/client/**/*.test.ts'],
    startsService: true,
    threshold: 85,
  },
  guard: {
    sources: ['packages/contract/src/guard.ts'],
    tests: ['packages/contract/src/*.test.ts'],
    startsService: false,
    threshold: 85,
  },
  journal: {
    sources: ['packages/contract/src/journal.ts'],
    tests: ['packages/contract/src/*.test.ts'],
    startsService: false,
    threshold: 85,
  },
  reports: {
    sources: ['packages/contract/src/report.ts', 'packages/contract/src/report/*.ts'],
    tests: ['packages/contract/src/**/*.test.ts'],
    startsService: false,
    threshold: 85,
  },
};
