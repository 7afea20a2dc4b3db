#!/usr/bin/env node
import { hasNode } from '../../../.config/publish/has-node.mjs';
import manifest from '../package.json' with { type: 'json' };

// An older Node cannot load the program.
if (hasNode(manifest)) {
  const [{ main }, { ioOfProcess }, { EXIT }] = await Promise.all([import('./run.ts'), import('./io.ts'), import('./failure.ts')]);
  // A program such as head has read enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.done : EXIT.failed));
  process.exitCode = await main(process.argv.slice(2), ioOfProcess());
}
