/** Builds the published package: one bundle, and its manual page. */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { thirdPartyLicenses } from '../../.config/publish/licenses.ts';
import { bundle } from './bundle.ts';

const dist = join(import.meta.dirname, 'dist');

rmSync(dist, { recursive: true, force: true });
const inputs = await bundle(dist);
writeFileSync(join(dist, 'reseller.1'), execFileSync(process.execPath, [join(dist, 'main.js'), 'man']));
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicenses(inputs, import.meta.dirname));
