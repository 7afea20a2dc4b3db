// @ts-check
/** What `--help` prints for the scripts whose programs do not print it themselves. */

const SETTINGS = 'apps/server/README.md lists all variables.';

/** @type {Readonly<Record<string, string>>} */
export const HELP = {
  start: `Usage: npx -y pnpm@12 start [--real]

Runs the sandbox until Ctrl-C. With --real, each VM that it sells is a machine of QEMU on this computer (Linux). Its settings are environment variables, such as:

  RESELLER_PORT      port of the reseller API; default 4010. The operator API has the next one
  RESELLER_DATA_DIR  folder of the data; default .data

${SETTINGS}
`,
  test: `Usage: npx -y pnpm@12 test [PATH...]

Runs lint, the check of generated code, the type check and the tests that need only one process, or all tests in the files whose paths contain
PATH. The first run installs about 1,300 MB of tools.
`,
  'test:all': `Usage: npx -y pnpm@12 test:all [PATH...]

Also builds the documentation, and runs the tests with PostgreSQL, Chromium, other processes and package managers.
`,
  'test:rest': 'Usage: npx -y pnpm@12 test:rest\n\nRuns the tests that test:all adds to test.\n',
  'test:part': `Usage: npx -y pnpm@12 test:part [1-6]

Runs one sixth of the files in which test:deep does more than test:all: the part with this number, or else the one that follows from the number of
commits.
`,
  'test:deep': `Usage: npx -y pnpm@12 test:deep [PATH...]

Does the same as test:all, with more seeds, fault rounds, browser widths and versions of Node, and with every guide.
`,
  build: 'Usage: npx -y pnpm@12 build\n\nBuilds the console and the documentation site. The next start serves the site at /docs/.\n',
  generate:
    'Usage: npx -y pnpm@12 generate\n\nGenerates bundles, clients, route types and tables from the documents in openapi. Commit the result.\n',
  lint: 'Usage: npx -y pnpm@12 lint\n\nChecks the documents, the code and its format, and the English. npx -y pnpm@12 format corrects the format.\n',
  typecheck: 'Usage: npx -y pnpm@12 typecheck\n\nChecks the types of all packages.\n',
  mock: 'Usage: npx -y pnpm@12 mock\n\nRuns a Prism mock that returns the examples of the document. MOCK_PORT is its port; default 4020.\n',
  site: 'Usage: npx -y pnpm@12 site\n\nBuilds the documentation site and serves it until Ctrl-C. DOCS_PORT is its port; default 4030.\n',
  bundle:
    'Usage: npx -y pnpm@12 bundle\n\nBuilds the JavaScript of a production installation. packages/service/OPERATIONS.md, section "Install", says how to install it.\n',
  'pack:all': 'Usage: npx -y pnpm@12 pack:all\n\nWrites a tarball of each package that is published to dist/packages.\n',
};
