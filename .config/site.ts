/** Builds the documentation site and serves it: the script `site`. */
import { join } from 'node:path';

import { installTools } from './test-tools.ts';
import { REPOSITORY, turbo } from './turbo.ts';

// Here, because turbo shows what it runs only when it fails.
await installTools(join(REPOSITORY, 'apps/docs/site'), 'the tools of the documentation site, about 100 MB');
const { status, output } = turbo(['run', 'build', '--filter=@reseller/docs', '--output-logs=errors-only', '--log-prefix=none'], 'pipe');
if (status === 0) await import('../apps/docs/src/main.ts');
else {
  process.stderr.write(output);
  process.exitCode = status;
}
