/** Compiles the package in the current folder into its `dist`, which is empty before: a `prepack` script. */
import { rmSync } from 'node:fs';

import { compile } from '../tsc.ts';

rmSync('dist', { recursive: true, force: true });
compile('tsconfig.build.json');
