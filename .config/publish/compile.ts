/**
 * Compiles the package in the current folder into its `dist`, which is empty before: a `prepack` script. If the package has a program, adds
 * `dist/bin.js`, which checks the version of Node before it loads the program. Adds the SBOM.
 */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { compile } from '../tsc.ts';
import { sbomOf } from './sbom.ts';

rmSync('dist', { recursive: true, force: true });
compile('tsconfig.build.json');
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const { name, engines, publishConfig } = manifest;
writeFileSync('dist/sbom.cdx.json', sbomOf(manifest));
if (publishConfig.bin !== undefined) {
  copyFileSync(join(import.meta.dirname, 'has-node.mjs'), 'dist/has-node.mjs');
  const lines = [
    '#!/usr/bin/env node',
    "import { hasNode } from './has-node.mjs';",
    `if (hasNode(${JSON.stringify({ name, engines })})) import('./main.js');`,
  ];
  writeFileSync('dist/bin.js', `${lines.join('\n')}\n`);
}
