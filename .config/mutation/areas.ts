/** The areas of the script `mutate`. */
export interface Area {
  /** Globs of the sources to change. Test files are excluded. */
  readonly sources: readonly string[];
  /** Globs of the test files that must notice the changes. They must run the sources in their own process. */
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
  'core-accounting': {
    sources: ['packages/service/src/core/{account,accounting,jobs}/**/*.ts', 'packages/service/src/core/*.ts'],
    tests: [
      'packages/service/src/core/{account,accounting,jobs}/**/*.test.ts',
      'packages/service/src/reseller/{account,accounting}/*.test.ts',
      'packages/service/src/reseller/vm/create-vm.*.test.ts',
      'packages/service/src/operator/{account,account-erasure,account-export,account-suspension,invoice,sale}.test.ts',
      'packages/service/test/interleavings.outer.test.ts',
    ],
    startsService: true,
    threshold: 85,
  },
  'core-services': {
    sources: ['packages/service/src/core/{vm,dedicated,domain}/**/*.ts'],
    tests: [
      'packages/service/src/{core,reseller}/{vm,dedicated,domain,handle}/*.test.ts',
      'packages/service/src/operator/operations.test.ts',
      'packages/service/src/operator/domain/*.test.ts',
      'packages/service/test/interleavings.outer.test.ts',
    ],
    startsService: true,
    threshold: 85,
  },
  'core-events': {
    sources: ['packages/service/src/core/events/*.ts'],
    tests: [
      'packages/service/src/core/events/*.test.ts',
      'packages/service/src/reseller/account/webhooks.test.ts',
      'packages/service/src/operator/account-events.test.ts',
    ],
    startsService: true,
    threshold: 85,
  },
  'core-catalogue': {
    sources: ['packages/service/src/core/catalogue/*.ts'],
    tests: [
      'packages/service/src/core/catalogue/*.test.ts',
      'packages/service/src/operator/catalogue/*.test.ts',
      'packages/service/src/operator/{sale,domain/tld-price}.test.ts',
      'packages/service/src/reseller/{accounting,vm}/*.test.ts',
    ],
    startsService: true,
    threshold: 85,
  },
  client: {
    sources: [
      'packages/client/src/runtime/*.ts',
      'packages/client/src/{call-options,paged-call,reconcile,redact,request-history,request-log,reseller}.ts',
    ],
    // package.test.ts builds and packs the client, which takes too long for each change.
    tests: ['packages/client/test/!(package).test.ts'],
    startsService: false,
    threshold: 85,
  },
  guard: {
    sources: ['packages/contract/src/run/guard.ts'],
    tests: ['packages/contract/src/run/{guard,guard-matrix,run}.test.ts'],
    startsService: false,
    threshold: 85,
  },
  journal: {
    sources: ['packages/contract/src/run/{clean-up,ownership}.ts', 'apps/contract-tests/src/file-journal.ts'],
    tests: ['packages/contract/src/run/{clean-up,run}.test.ts', 'apps/contract-tests/test/{journal,ownership/ownership}.test.ts'],
    startsService: false,
    threshold: 85,
  },
  reports: {
    sources: ['packages/contract/src/exchange/curl.ts', 'packages/contract/src/report/*.ts'],
    tests: [
      'packages/contract/src/{report/baseline,exchange/curl,run/recorded,run/run,document/secrets}.test.ts',
      'packages/contract/src/report/*.test.ts',
    ],
    startsService: false,
    threshold: 85,
  },
  // A sample of it says how many mistakes in the code of money and evidence the suite notices as a whole. The nightly run takes one.
  'service-and-client': {
    sources: [
      'packages/service/src/!(generated)/**/*.ts',
      'packages/service/src/*.ts',
      'packages/client/src/!(generated)/**/*.ts',
      'packages/client/src/*.ts',
    ],
    tests: [
      'packages/service/**/*.test.ts',
      'packages/client/test/!(package).test.ts',
      'packages/testing/test/client/!(broken-networks).test.ts',
    ],
    startsService: true,
    threshold: 85,
  },
  store: {
    sources: ['packages/service/src/store/!(migrations|tables)/**/*.ts', 'packages/service/src/store/*.ts'],
    tests: ['packages/service/src/store/**/*.test.ts', 'packages/service/test/{interleavings,instances}.test.ts'],
    startsService: true,
    threshold: 75,
  },
  http: {
    sources: ['packages/service/src/http/**/*.ts'],
    tests: ['packages/service/src/http/**/*.test.ts', 'packages/service/test/{key-restrictions,secrets-in-log}.test.ts'],
    startsService: true,
    threshold: 75,
  },
  reseller: {
    sources: ['packages/service/src/reseller/**/*.ts'],
    tests: ['packages/service/src/reseller/**/*.test.ts', 'packages/service/test/idempotency.test.ts'],
    startsService: true,
    threshold: 75,
  },
  operator: {
    sources: ['packages/service/src/operator/**/*.ts'],
    tests: ['packages/service/src/operator/**/*.test.ts', 'packages/service/test/instances-sandbox.outer.test.ts'],
    startsService: true,
    threshold: 75,
  },
  contract: {
    sources: ['packages/contract/src/{document,form,judge,run,source}/**/*.ts'],
    tests: ['packages/contract/src/**/*.test.ts'],
    startsService: false,
    threshold: 75,
  },
  apps: {
    // The tests of apps/server start processes, in which nothing is changed.
    sources: ['apps/contract-tests/src/**/*.ts', 'apps/docs/src/{provenance,inherit}.ts'],
    tests: ['apps/contract-tests/test/*.test.ts', 'apps/docs/test/provenance.test.ts'],
    startsService: true,
    threshold: 75,
  },
};
