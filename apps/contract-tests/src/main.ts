import manifest from '@reseller/contract/package.json' with { type: 'json' };

import { hasNode } from '../../../.config/publish/has-node.mjs';

// An older Node cannot load the program.
if (hasNode(manifest)) await import('./run.ts');
