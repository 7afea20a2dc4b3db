/**
 * Builds the published package: one module with the whole service, the modules of its worker threads, and the
 * declarations of its interface.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { build } from 'esbuild';

import { describeBundle } from '../../.config/publish/licenses.ts';
import manifest from './package.json' with { type: 'json' };

const here = import.meta.dirname;
const dist = join(here, 'dist');
/** The service starts them from files next to its module. */
const WORKERS = {
  'render-worker': join(here, '../service/src/core/accounting/invoice-document/render-worker.ts'),
  'checkpoint-worker': join(here, '../service/src/store/sqlite/checkpoint-worker.ts'),
};
const DECLARATIONS = ['index', 'service', 'clock', 'faults', 'generated/fixtures.gen'];

rmSync(dist, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: { index: join(here, 'src/index.ts'), ...WORKERS },
  outdir: dist,
  bundle: true,
  metafile: true,
  absWorkingDir: here,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  // The errors that a test catches must be those of the client that it imports. pdfkit and its fonts read files next to them.
  external: ['@reseller/client', '@reseller/operator-client', 'pdfkit', 'dejavu-fonts-ttf', 'pg-native'],
  // Dependencies in CommonJS require modules of Node.
  banner: {
    js: "import { createRequire as createRequireOfNode } from 'node:module'; const require = createRequireOfNode(import.meta.url);",
  },
});

describeBundle(dist, manifest, Object.keys(metafile.inputs), here);

// The compiler writes declarations of everything that the entry imports. Only those that the interface refers to are kept.
mkdirSync(join(here, 'reports'), { recursive: true });
const declared = mkdtempSync(join(here, 'reports', 'declared-'));
try {
  const compiler = join(here, '../../node_modules/typescript/bin/tsc');
  const options = [
    '--noEmit',
    'false',
    '--emitDeclarationOnly',
    '--declaration',
    '--noCheck',
    '--outDir',
    declared,
    '--rootDir',
    join(here, '../..'),
  ];
  execFileSync(process.execPath, [compiler, '-p', join(here, 'tsconfig.build.json'), ...options], { stdio: 'inherit' });
  for (const name of DECLARATIONS) {
    const file = join(dist, `${name}.d.ts`);
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(join(declared, 'packages/testing/src', `${name}.d.ts`), file);
  }
} finally {
  rmSync(declared, { recursive: true, force: true });
}
