/** Builds and packs each published package, or those in the given folders, so that they can be installed before they are published. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

import { PNPM, PNPM_ARGUMENTS } from '../install.mjs';
import { REPOSITORY, turbo } from '../turbo.ts';
import { PUBLISHED, TARBALLS } from './packages.ts';

const given = process.argv.slice(2);
const folders = PUBLISHED.filter((one) => given.length === 0 || given.includes(one));
// It contains the documentation site and the console.
if (folders.includes('apps/sandbox')) {
  const built = turbo(['run', 'build', '--filter=@reseller/docs', '--filter=@reseller/console', '--output-logs=errors-only'], 'inherit');
  if (built.status !== 0) process.exit(built.status);
}
rmSync(TARBALLS, { recursive: true, force: true });
mkdirSync(TARBALLS, { recursive: true });
for (const folder of folders) {
  const packed = execFileSync(PNPM, [...PNPM_ARGUMENTS, 'pack', '--pack-destination', TARBALLS, '--json'], {
    cwd: join(REPOSITORY, folder),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { name }: { name: string } = JSON.parse(readFileSync(join(REPOSITORY, folder, 'package.json'), 'utf8'));
  const { filename }: { filename: string } = JSON.parse(packed.slice(packed.indexOf('{')));
  process.stdout.write(`${name.padEnd(28)}dist/packages/${basename(filename)}\n`);
}
