#!/usr/bin/env node
/** The sandbox as an installed program. Its data is in a folder of the user, because npx deletes its own folder. */
import { resolve } from 'node:path';

import envPaths from 'env-paths';

import { hasNode } from '../../../.config/publish/has-node.mjs';
import manifest from '../package.json' with { type: 'json' };

process.env['RESELLER_DATA_DIR'] = resolve(process.env['RESELLER_DATA_DIR'] || envPaths('reseller-sandbox', { suffix: '' }).data);
// An older Node cannot load the server.
if (hasNode(manifest)) await import('@reseller/server/main');
