/** Builds the published package: the compiled library, and the command line as one bundle that uses it. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { build } from 'esbuild';

import { describeBundle } from '../../.config/publish/licenses.ts';
import { compile } from '../../.config/tsc.ts';
import manifest from './package.json' with { type: 'json' };

const here = import.meta.dirname;
const dist = join(here, 'dist');
const command = join(dist, 'command');

rmSync(dist, { recursive: true, force: true });
compile(join(here, 'tsconfig.build.json'));
const { metafile } = await build({
  entryPoints: { main: join(here, '../../apps/contract-tests/src/main.ts') },
  outdir: command,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  sourcemap: true,
  metafile: true,
  absWorkingDir: here,
  logLevel: 'warning',
  external: [manifest.name, '@reseller/openapi', ...Object.keys(manifest.dependencies)],
  // Dependencies in CommonJS require modules of Node.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as createRequireOfNode } from 'node:module'; const require = createRequireOfNode(import.meta.url);",
  },
});
describeBundle(dist, manifest, Object.keys(metafile.inputs), here);
