#!/usr/bin/env node
import { hasNode } from '../../../.config/publish/has-node.mjs';
import manifest from '../package.json' with { type: 'json' };

// An older Node cannot load the program.
if (hasNode(manifest)) await import('./run.ts');
