/** Installs the tools of the documentation site: `node .config/install-tools.ts FOLDER`. */
import { resolve } from 'node:path';

import { installTools } from './test-tools.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Usage: node .config/install-tools.ts FOLDER');
await installTools(resolve(folder), 'the tools of the documentation site, about 100 MB');
