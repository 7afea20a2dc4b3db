/** Builds the published package in `dist`: one bundle, its manual pages, and a manifest with the few packages that are not in the bundle. */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'yaml';

import { describeBundle } from '../../.config/publish/licenses.ts';
import { REPOSITORY } from '../../.config/turbo.ts';
import { bundle, INSTALLED } from './bundle.ts';
import manifest from './package.json' with { type: 'json' };
import { ioOfProcess } from './src/io.ts';
import { manPages } from './src/man-page.ts';
import { buildProgram } from './src/program.ts';

const dist = join(import.meta.dirname, 'dist');
const { scripts: _, dependencies: __, devDependencies: ___, optionalDependencies: ____, publishConfig, ...described } = manifest;
const { catalog }: { catalog: Readonly<Record<string, string>> } = parse(readFileSync(join(REPOSITORY, 'pnpm-workspace.yaml'), 'utf8'));

rmSync(dist, { recursive: true, force: true });
const inputs = await bundle(dist);
const pages = manPages(buildProgram(ioOfProcess()));
for (const [name, page] of pages) writeFileSync(join(dist, `${name}.1`), page);
copyFileSync(join(import.meta.dirname, 'README.md'), join(dist, 'README.md'));
copyFileSync(join(REPOSITORY, 'LICENSE'), join(dist, 'LICENSE'));
const { access, provenance } = publishConfig;
const published = {
  ...described,
  bin: { reseller: './main.js' },
  man: [...pages.keys()].map((name) => `./${name}.1`),
  dependencies: versionsOf(INSTALLED.always),
  optionalDependencies: versionsOf(INSTALLED.ifPossible),
  publishConfig: { access, provenance },
};
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
describeBundle(dist, published, inputs, import.meta.dirname);

function versionsOf(names: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(names.map((name) => [name, catalog[name]]));
}
