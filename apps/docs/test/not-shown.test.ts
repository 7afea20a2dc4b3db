import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import type { OpenApi } from '../src/document.ts';
import { notShownPage } from '../src/not-shown.ts';

const text = readFileSync(fileURLToPath(import.meta.resolve('@reseller/openapi/openapi.json')), 'utf8');

/** The document after a change. */
function changed(change: (document: OpenApi) => void): OpenApi {
  const document: OpenApi = JSON.parse(text);
  change(document);
  return document;
}

const rowsOf = (document: OpenApi): string[] =>
  notShownPage(document)
    .split('\n')
    .filter((line) => line.startsWith('| '));

test('lists a field, a parameter, a response and a sentence that are assumed or inferred', () => {
  const page = notShownPage(JSON.parse(text));
  expect(page).toContain('| response `data.pricings.monthly` | [inferred]');
  expect(page).toContain('| parameter `Idempotency-Key` | [assumed]');
  expect(page).toContain('| response 402 | [assumed]');
  expect(page).toContain('| operation | The VM starts at once [inferred]');
});

test('lists nothing that is shown', () => {
  const page = notShownPage(JSON.parse(text));
  expect(page).not.toContain('`cores`');
  expect(page).not.toContain('| response 200 | A');
});

test('lists a part from the moment the document marks it', () => {
  const before = rowsOf(JSON.parse(text));
  const marked = changed(({ components }) => {
    const field = components.schemas['CreateVmForm']?.properties?.['cores'];
    if (field) field['x-provenance'] = 'inferred';
  });
  expect(rowsOf(marked).filter((row) => !before.includes(row))).toEqual([expect.stringContaining('| form `cores` | [inferred]')]);
});

test('lists a part that several operations share once', () => {
  const rows = rowsOf(JSON.parse(text));
  expect(new Set(rows.filter((row) => !row.startsWith('| part'))).size).toBe(rows.filter((row) => !row.startsWith('| part')).length);
});
