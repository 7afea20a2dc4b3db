/**
 * Builds the dependencies of an app, then runs the app in this process: `node .config/launch.ts PACKAGE FILE [argument...]`.
 * So the app receives the signals and sets the exit code, and only the app prints. The documentation site is built only for itself,
 * because it needs tools that the first start does not install.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { endWithNpx } from './npx.ts';
import { REPOSITORY, turbo } from './turbo.ts';

const [name, file, ...given] = process.argv.slice(2);
if (name === undefined || file === undefined) throw new Error('Usage: node .config/launch.ts PACKAGE FILE [argument...]');
endWithNpx();
const DOCS = '@reseller/docs';
const filters = [`--filter=${name}...`, ...(name === DOCS ? [] : [`--filter=!${DOCS}`])];
const { status, output } = turbo(['run', 'build', ...filters, '--output-logs=errors-only', '--log-prefix=none'], 'pipe');
if (status === 0) {
  const app = resolve(REPOSITORY, file);
  // The app sees the same arguments as if Node had been started with its file.
  process.argv.splice(1, process.argv.length, app, ...given);
  await import(pathToFileURL(app).href);
} else {
  process.stderr.write(output);
  process.exitCode = status;
}
