/** Builds the documentation site and serves it: the script `site`. */
import { join } from 'node:path';

import { docsPort } from '../apps/docs/src/docs-port.ts';
import { installTools } from './test-tools.ts';
import { REPOSITORY, turbo } from './turbo.ts';

try {
  // Before anything is installed or built.
  docsPort();
  await serve();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function serve(): Promise<void> {
  // Here, because turbo shows what it runs only when it fails.
  await installTools(join(REPOSITORY, 'apps/docs/site'), 'the tools of the documentation site, about 100 MB');
  const { status, output } = turbo(['run', 'build', '--filter=@reseller/docs', '--output-logs=errors-only', '--log-prefix=none'], 'pipe');
  if (status === 0) {
    await import('../apps/docs/src/main.ts');
    return;
  }
  process.stderr.write(output);
  process.exitCode = status;
}
