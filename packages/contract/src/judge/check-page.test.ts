import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { checkIndex, checkPage } from './check-page.ts';
import { CHECKS } from './checks.ts';

const FOLDER = fileURLToPath(new URL('../../docs/checks/', import.meta.url));

test.each(CHECKS.map((check) => [check.id, check] as const))('the page of %s is up to date', async (id, check) => {
  await expect(checkPage(check)).toMatchFileSnapshot(`${FOLDER}${id}.md`);
});

test('the list of checks is up to date, and every page belongs to a check', async () => {
  await expect(checkIndex()).toMatchFileSnapshot(`${FOLDER}README.md`);
  const pages = (await readdir(FOLDER)).filter((name) => name !== 'README.md');
  expect(pages.toSorted()).toEqual(CHECKS.map(({ id }) => `${id}.md`).toSorted());
});

test('each check is in a file with its name', async () => {
  const files = await readdir(fileURLToPath(new URL('checks/', import.meta.url)));
  expect(files.toSorted()).toEqual(CHECKS.map(({ id }) => `${id}.ts`).toSorted());
});
