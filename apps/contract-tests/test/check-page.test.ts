import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { CHECKS } from '@reseller/contract/engine';
import { expect, test } from 'vitest';

import { envelopeKept, requestIdUnique } from '../src/envelope-checks.ts';
import { otpRules } from '../src/one-time-codes/rules.ts';
import { checkIndex, checkPage } from './check-page.ts';

const CONTRACT = new URL('../../../packages/contract/', import.meta.url);
const FOLDER = fileURLToPath(new URL('docs/checks/', CONTRACT));

test.each(CHECKS.map((check) => [check.id, check] as const))('the page of %s is up to date', async (id, check) => {
  await expect(checkPage(check)).toMatchFileSnapshot(`${FOLDER}${id}.md`);
});

test('the list of checks is up to date, and every page belongs to a check', async () => {
  await expect(checkIndex()).toMatchFileSnapshot(`${FOLDER}README.md`);
  const pages = (await readdir(FOLDER)).filter((name) => name !== 'README.md');
  expect(pages.toSorted()).toEqual(CHECKS.map(({ id }) => `${id}.md`).toSorted());
});

test('each check is in a file with its name', async () => {
  const files = await readdir(fileURLToPath(new URL('src/judge/checks/', CONTRACT)));
  expect(files.toSorted()).toEqual(CHECKS.map(({ id }) => `${id}.ts`).toSorted());
});

test.each([otpRules([]), envelopeKept, requestIdUnique])('the page of the check $id of this API is up to date', async (check) => {
  await expect(checkPage(check)).toMatchFileSnapshot(`../docs/${check.id}.md`);
});
