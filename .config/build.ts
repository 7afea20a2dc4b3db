/** Builds the console and the documentation site: the script `build`. */
import { turbo } from './turbo.ts';

process.stdout.write('Building the console and the documentation site.\n');
const { status } = turbo(['run', 'build', '--output-logs=errors-only', ...process.argv.slice(2)], 'inherit');
if (status === 0)
  process.stdout.write('Built. The next start serves the site at /docs/. To read it without a sandbox: npx -y pnpm@12 site\n');
process.exitCode = status;
