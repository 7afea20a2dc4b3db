/** Bundles the server for a run of tests, and prints the folder of the bundle. Equal sources have the same folder, so that its compiled code can be cached. */
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { siteDirectory } from '@reseller/docs';

import { bundleServer } from '../deploy/server-bundle.ts';
import { consoleDirectory } from '../src/console-site.ts';

const PACKAGE = '{ "type": "module" }\n';
const CACHE = join(import.meta.dirname, '../node_modules/.cache');

mkdirSync(CACHE, { recursive: true });
const unfinished = mkdtempSync(join(CACHE, 'unfinished-'));
const code = join(unfinished, 'src');
await bundleServer(code);
// Without it, Node reads each file as CommonJS before it reads it as a module.
writeFileSync(join(unfinished, 'package.json'), PACKAGE);
symlinkSync(siteDirectory, join(unfinished, 'dist'));
// Without the slash at the end, which the link of a folder must not have.
symlinkSync(consoleDirectory.replace(/\/$/, ''), join(unfinished, 'console-dist'));
const files = readdirSync(code)
  .filter((file) => file.endsWith('.js'))
  .toSorted();
const contents = [PACKAGE, ...files.map((file) => readFileSync(join(code, file), 'utf8'))].join('\0');
const folder = join(CACHE, `test-server-${hash('sha256', contents).slice(0, 16)}`);
try {
  renameSync(unfinished, folder);
} catch (error) {
  // An earlier run has made the same one, or another process does so now.
  rmSync(unfinished, { recursive: true });
  if (!existsSync(folder)) throw error;
}
process.stdout.write(folder);
