import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { copyRepository } from './copy.ts';

test('a copy has its own sources and links between packages, and shares the packages of the registry', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'repository-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ['.git', '.data', 'node_modules/.pnpm', 'packages/one/node_modules', 'packages/two'])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'packages/two/source.ts'), 'original');
  symlinkSync('../../two', join(root, 'packages/one/node_modules/two'), 'junction');

  const copy = copyRepository(root);
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  writeFileSync(join(copy, 'packages/one/node_modules/two/source.ts'), 'changed');
  expect(readFileSync(join(copy, 'packages/two/source.ts'), 'utf8')).toBe('changed');
  expect(readFileSync(join(root, 'packages/two/source.ts'), 'utf8')).toBe('original');
  expect(lstatSync(join(copy, 'node_modules')).isSymbolicLink()).toBe(true);
  expect(realpathSync(join(copy, 'node_modules/.pnpm'))).toBe(join(root, 'node_modules/.pnpm'));
  expect([existsSync(join(copy, '.git')), existsSync(join(copy, '.data'))]).toEqual([false, false]);
});
