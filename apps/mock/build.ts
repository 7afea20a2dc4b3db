/** Builds the published package: the mock as one bundle. Prism and the document are its dependencies. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { build } from 'esbuild';

import { thirdPartyLicenses } from '../../.config/publish/licenses.ts';
import manifest from './package.json' with { type: 'json' };

const here = import.meta.dirname;
const dist = join(here, 'dist');

rmSync(dist, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: { main: join(here, 'src/main.ts') },
  outdir: dist,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  sourcemap: true,
  metafile: true,
  absWorkingDir: here,
  logLevel: 'warning',
  external: Object.keys(manifest.dependencies),
  // Ajv is written in CommonJS and requires modules of Node.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as createRequireOfNode } from 'node:module'; const require = createRequireOfNode(import.meta.url);",
  },
});
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicenses(Object.keys(metafile.inputs), here));
