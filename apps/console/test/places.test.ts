/** Facts about the console that need no browser: its size, and the place of every operation. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { operations } from '../src/document/operations.data.ts';
import { consoleDirectory } from '../src/site.ts';

const SOURCES = join(import.meta.dirname, '../src');
const MAX_FIRST_LOAD_BYTES = 200_000;

/** Operations of the operator document that have no place in the console, each with its reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  listAccountRequests: 'the search of the log finds the requests of an account without reading their bodies',
};

test('every operation of the operator document has a place, or a reason to have none', () => {
  const source = globSync('**/*.{ts,tsx}', { cwd: SOURCES })
    .filter((file) => !file.startsWith('document'))
    .map((file) => readFileSync(join(SOURCES, file), 'utf8'))
    .join('\n');
  // Pages name an operation as an action or a query, or call its function.
  const isUsed = (id: string) => new RegExp(`'${id}'|"${id}"|\\b${id}\\(`).test(source);
  const readByForms = new Set(
    Object.entries(operations).flatMap(([id, { versionedBy, quote }]) => (isUsed(id) ? [versionedBy?.id, quote?.id] : [])),
  );
  const missing = Object.keys(operations).filter((id) => !isUsed(id) && !readByForms.has(id));
  expect(missing).toEqual(Object.keys(LEFT_OUT));
});

test('the first load has at most 200 kB', { tags: 'outer' }, () => {
  const page = readFileSync(join(consoleDirectory, 'index.html'), 'utf8');
  const files = [...page.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThan(1);
  const bytes = files.map((file) => gzipSync(readFileSync(join(consoleDirectory, file))).length);
  expect(bytes.reduce((total, size) => total + size, gzipSync(page).length)).toBeLessThan(MAX_FIRST_LOAD_BYTES);
});

test('no file of the page has a script or a style in its HTML, or the address of another host', { tags: 'outer' }, () => {
  const page = readFileSync(join(consoleDirectory, 'index.html'), 'utf8');
  expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|https?:\/\//);
});
