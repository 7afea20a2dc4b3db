/** The bundle of the specification does not depend on the extension, and service.json has every operation of both. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

import { expect, it } from 'vitest';

import { entriesOf } from '../lint/nodes.ts';
import { bundle } from '../lint/testing/redocly.ts';
import type { Tree } from '../lint/testing/tree.ts';

const FOLDER = join(import.meta.dirname, '..');

/** The files in parts of this folder. */
function filesOf(...parts: readonly string[]): Tree {
  const files = parts.flatMap((part) =>
    part.includes('.')
      ? [part]
      : readdirSync(join(FOLDER, part), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => relative(FOLDER, join(entry.parentPath, entry.name))),
  );
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(FOLDER, file), 'utf8')]));
}

it('bundles the specification to the same bytes with and without the extension', async () => {
  const specification = filesOf('openapi.yaml', 'description.md', 'paths', 'components');
  const extension = filesOf('extension.yaml', 'extension');
  expect(Object.keys(extension).length).toBeGreaterThan(20);
  const [without, together] = await Promise.all([bundle(specification), bundle({ ...specification, ...extension })]);
  expect(JSON.stringify(together)).toBe(JSON.stringify(without));
  const built: unknown = JSON.parse(readFileSync(join(FOLDER, 'generated/openapi.json'), 'utf8'));
  expect(JSON.stringify(built)).toBe(JSON.stringify(without));
});

const operationIdsOf = (name: string): string[] => {
  const document: unknown = JSON.parse(readFileSync(join(FOLDER, `generated/${name}.json`), 'utf8'));
  return entriesOf(Object(document)['paths']).flatMap(([, path]) =>
    entriesOf(path).flatMap(([, part]) => (Object(part)['operationId'] === undefined ? [] : [String(Object(part)['operationId'])])),
  );
};

it('service.json has the operations of both documents, and none twice', () => {
  const service = operationIdsOf('service');
  expect(service.toSorted()).toEqual([...operationIdsOf('openapi'), ...operationIdsOf('extension')].toSorted());
  expect(new Set(service).size).toBe(service.length);
});

it('shows nothing of the extension in the bundle of the specification', () => {
  const text = readFileSync(join(FOLDER, 'generated/openapi.yaml'), 'utf8');
  // Whole words: the specification's undeleteDomain contains the extension's deleteDomain.
  const words = new Set(text.match(/[\w-]+/g));
  expect(words).toContain('undeleteDomain');
  for (const part of ['x-origin', 'max_price', ...operationIdsOf('extension')]) expect(words).not.toContain(part);
});
