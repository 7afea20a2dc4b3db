/** Writes the SBOM of the package in the current folder into its `dist`: a `prepack` script of a package that is not compiled. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

import { sbomOf } from './sbom.ts';

mkdirSync('dist', { recursive: true });
writeFileSync('dist/sbom.cdx.json', sbomOf(JSON.parse(readFileSync('package.json', 'utf8'))));
