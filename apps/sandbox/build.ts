/** Builds the published package: the process of `apps/server` as one bundle, and the documentation and the console that it serves. */
import { copyFileSync, cpSync, existsSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

import { siteDirectory } from '@reseller/docs';
import { bundlePrograms, consoleDirectory, copyFontFiles } from '@reseller/server/bundle';

import { describeBundle } from '../../.config/publish/licenses.ts';
import manifest from './package.json' with { type: 'json' };

const dist = join(import.meta.dirname, 'dist');

if (!existsSync(siteDirectory)) throw new Error("The documentation site is missing. Run 'npx -y pnpm@12 build' first.");
if (!existsSync(join(consoleDirectory, 'index.html'))) throw new Error("The console is missing. Run 'npx -y pnpm@12 build' first.");
rmSync(dist, { recursive: true, force: true });
const { inputs, folder } = await bundlePrograms(join(dist, 'src'), { main: join(import.meta.dirname, 'src/main.ts') }, 'node22');
// The service finds the site and the console by the same relative path as in the repository.
cpSync(siteDirectory, join(dist, 'dist'), { recursive: true });
cpSync(consoleDirectory, join(dist, 'console-dist'), { recursive: true });
const fonts = copyFontFiles(join(dist, 'src'));
describeBundle(dist, manifest, [...inputs, ...fonts.map((file) => relative(folder, file))], folder);
// pnpm adds it to a package only if no file of the package has this name, and Redoc's has it.
copyFileSync(join(import.meta.dirname, '../../LICENSE'), join(import.meta.dirname, 'LICENSE'));
