/** Adds to the generated functions what `openapi-ts` cannot write. Run by the script `generate`, after `openapi-ts`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { withCheckedClient } from '../../client/generate/checked-client.ts';

const file = join(process.env['GENERATE_INTO'] ?? join(import.meta.dirname, '../src/generated'), 'sdk.gen.ts');
writeFileSync(file, withCheckedClient(readFileSync(file, 'utf8')));
