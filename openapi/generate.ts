/**
 * Writes the bundles into `generated`. They are committed, so that the service starts without the tools that bundle.
 * Run by the script `generate`. `generate:check` writes elsewhere and compares.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { writeService } from './service/write.ts';

const REDOCLY = join(import.meta.dirname, 'node_modules/@redocly/cli/bin/cli.js');
const DOCUMENTS = ['reseller', 'extension', 'operator'];

const into = process.env['GENERATE_INTO'] ?? join(import.meta.dirname, 'generated');

for (const extension of ['yaml', 'json']) {
  const given = ['bundle', ...DOCUMENTS, '--output', into, '--ext', extension, '--component-renaming-conflicts-severity=error'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [REDOCLY, ...given], { cwd: import.meta.dirname, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The documents could not be bundled.\n${stdout}${stderr}`);
}
writeService(into);
