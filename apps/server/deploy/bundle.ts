/**
 * Builds the JavaScript of a production installation: one bundle of the process and its commands, because Node does not strip the types of
 * TypeScript below node_modules, where `pnpm deploy` puts the packages of the workspace.
 */
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { siteDirectory } from '@reseller/docs';
import { build } from 'esbuild';

const PACKAGE = join(import.meta.dirname, '..');
/** As deep as in the repository, so that the code finds the site and the root by the same relative paths. */
const DIST = join(PACKAGE, 'dist/server');
const COMMANDS = ['main', 'move', 'backup', 'restore', 'migrate', 'reseal'];
/** Separate files, because the service starts them as threads. */
const WORKERS = {
  'render-worker': join(PACKAGE, '../../packages/service/src/core/accounting/invoice-document/render-worker.ts'),
  'checkpoint-worker': join(PACKAGE, '../../packages/service/src/store/sqlite/checkpoint-worker.ts'),
};

if (!existsSync(siteDirectory)) throw new Error("The documentation site is missing. Run 'npx pnpm@12 build' first.");
rmSync(join(PACKAGE, 'dist'), { recursive: true, force: true });
await build({
  entryPoints: {
    ...Object.fromEntries(COMMANDS.map((name) => [name, join(PACKAGE, 'src', `${name}.ts`)])),
    ...WORKERS,
  },
  outdir: join(DIST, 'src'),
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  logLevel: 'warning',
  // They read files next to them. The driver of PostgreSQL works without its native part.
  external: ['pdfkit', 'dejavu-fonts-ttf', 'pg-native'],
  // Dependencies in CommonJS require modules of Node.
  banner: {
    js: "import { createRequire as createRequireOfNode } from 'node:module'; const require = createRequireOfNode(import.meta.url);",
  },
});
cpSync(siteDirectory, join(DIST, 'dist'), { recursive: true });
