/** Builds the published package in `dist`: one bundle, its manual page, and a manifest with the few packages that are not in the bundle. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'yaml';

import { describeBundle } from '../../.config/publish/licenses.ts';
import { REPOSITORY } from '../../.config/turbo.ts';
import { bundle, INSTALLED } from './bundle.ts';
import manifest from './package.json' with { type: 'json' };

const dist = join(import.meta.dirname, 'dist');
const { scripts: _, dependencies: __, devDependencies: ___, optionalDependencies: ____, publishConfig, ...described } = manifest;
const { catalog }: { catalog: Readonly<Record<string, string>> } = parse(readFileSync(join(REPOSITORY, 'pnpm-workspace.yaml'), 'utf8'));

rmSync(dist, { recursive: true, force: true });
const inputs = await bundle(dist);
writeFileSync(join(dist, 'reseller.1'), execFileSync(process.execPath, [join(dist, 'main.js'), 'man']));
copyFileSync(join(import.meta.dirname, 'README.md'), join(dist, 'README.md'));
copyFileSync(join(REPOSITORY, 'LICENSE'), join(dist, 'LICENSE'));
const { access, provenance } = publishConfig;
const published = {
  ...described,
  bin: { reseller: './main.js' },
  man: ['./reseller.1'],
  dependencies: versionsOf(INSTALLED.always),
  optionalDependencies: versionsOf(INSTALLED.ifPossible),
  publishConfig: { access, provenance },
};
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
describeBundle(dist, published, inputs, import.meta.dirname);

function versionsOf(names: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(names.map((name) => [name, catalog[name]]));
}
