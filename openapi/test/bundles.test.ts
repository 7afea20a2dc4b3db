/** The bundle of the specification has nothing of the extension, and that of the service has everything. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { entriesOf } from '../lint/nodes.ts';

const GENERATED = join(import.meta.dirname, '../generated');

function textOf(name: string): string {
  return readFileSync(join(GENERATED, `${name}.json`), 'utf8');
}

interface Operation {
  readonly id: string;
  readonly isExtension: boolean;
}

function operationsOf(name: string): Operation[] {
  const document: unknown = JSON.parse(textOf(name));
  return entriesOf(Object(document)['paths']).flatMap(([, path]) =>
    entriesOf(path).flatMap(([, part]) => {
      const { operationId, 'x-origin': origin } = Object(part);
      return operationId === undefined ? [] : [{ id: String(operationId), isExtension: origin === 'extension' }];
    }),
  );
}

it('the specification is the service without the operations that are marked', () => {
  const service = operationsOf('service');
  expect(new Set(service.map(({ id }) => id)).size).toBe(service.length);
  expect(service.filter(({ isExtension }) => !isExtension)).toEqual(operationsOf('openapi'));
  expect(service.filter(({ isExtension }) => isExtension).length).toBeGreaterThan(70);
});

it('shows nothing of the extension in the bundle of the specification', () => {
  // Whole words: the specification's undeleteDomain contains the extension's deleteDomain.
  const words = new Set(textOf('openapi').match(/[\w-]+/g));
  expect(words).toContain('undeleteDomain');
  const ofExtension = operationsOf('service').filter(({ isExtension }) => isExtension);
  for (const part of ['x-origin', 'max_price', 'transfer_lock', ...ofExtension.map(({ id }) => id)]) expect(words).not.toContain(part);
});

it.each(['openapi', 'service', 'operator'])('%s.json has a line for each operation and each component', (name) => {
  const lines = textOf(name).split('\n');
  const components = entriesOf(Object(JSON.parse(textOf(name)))['components']).flatMap(([, kind]) => entriesOf(kind).map(([part]) => part));
  for (const part of [...components, 'get', 'post'])
    expect(lines.filter((line) => line.startsWith(`${JSON.stringify(part)}: `))).not.toEqual([]);
});
