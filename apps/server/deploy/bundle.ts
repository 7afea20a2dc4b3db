/**
 * Builds the JavaScript of a production installation: one bundle of the process and its commands, because Node does not strip the types of
 * TypeScript below node_modules, where `pnpm deploy` puts the packages of the workspace.
 */
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { siteDirectory } from '@reseller/docs';

import { bundleServer } from './server-bundle.ts';

const PACKAGE = join(import.meta.dirname, '..');
/** As deep as in the repository, so that the code finds the site and the root by the same relative paths. */
const DIST = join(PACKAGE, 'dist/server');

if (!existsSync(siteDirectory)) throw new Error("The documentation site is missing. Run 'npx pnpm@12 build' first.");
rmSync(join(PACKAGE, 'dist'), { recursive: true, force: true });
await bundleServer(join(DIST, 'src'));
cpSync(siteDirectory, join(DIST, 'dist'), { recursive: true });
