/** The facts that the console takes from the document of the operator API. */
import { MASK, maskSecrets, parseDocument, readOperations } from '@reseller/contract';
import type { Operation } from '@reseller/contract';
import operatorDocument from '@reseller/openapi/operator.json' with { type: 'json' };
import { expect, test } from 'vitest';

import { operations } from '../src/document/operations.data.ts';

const document = parseDocument(operatorDocument);

test('the operations that cannot be undone are those that the document marks', () => {
  const marked = describedWhere((operation) => 'x-destructive' in operation && operation['x-destructive'] === true);
  const shown = Object.entries(operations).flatMap(([id, { destructive }]) => (destructive ? [id] : []));
  expect(shown.length).toBeGreaterThan(0);
  expect(shown.toSorted()).toEqual(marked.toSorted());
});

test('the operations that may only create are those with If-None-Match', () => {
  const described = describedWhere(
    (operation) => 'parameters' in operation && JSON.stringify(operation.parameters).includes('IfNoneMatch'),
  );
  const shown = Object.entries(operations).flatMap(([id, { mayOnlyCreate }]) => (mayOnlyCreate ? [id] : []));
  expect(shown.length).toBeGreaterThan(0);
  expect(shown.toSorted()).toEqual(described.toSorted());
});

test('the secret of a response is the one that the document marks, unless an operation returns it again', () => {
  const described = readOperations(document);
  const isReadable = new Set(
    described
      .filter(({ readOnly }) => readOnly)
      .flatMap(secretsInExamples)
      .map(nameOf),
  );
  const marked = described.flatMap((operation) => {
    const path = secretsInExamples(operation).find((secret) => !isReadable.has(nameOf(secret)));
    return path === undefined ? [] : [[operation.id, path]];
  });
  const shown = Object.entries(operations).flatMap(([id, { secret }]) => (secret === undefined ? [] : [[id, secret.join('.')]]));
  expect(shown.length).toBeGreaterThan(0);
  expect(shown).toEqual(marked);
});

/** The identifiers of the operations of the document for which a condition holds. */
function describedWhere(holds: (operation: object) => boolean) {
  return Object.values(operatorDocument.paths)
    .flatMap((path): object[] => Object.values(path))
    .filter(holds)
    .map((operation) => 'operationId' in operation && operation.operationId);
}

/** The paths of the secrets in the examples of the successful responses, such as `issued.key`. */
function secretsInExamples({ responses }: Operation): string[] {
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content }]) => Object.values(content))
    .flatMap(({ pointer = '', examples }) =>
      Object.values(examples).flatMap(({ value }) => pathsOfMask(maskSecrets(document, pointer, value), '')),
    );
}

function pathsOfMask(value: unknown, path: string): string[] {
  if (value === MASK) return [path.slice(1)];
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, member]) => pathsOfMask(member, `${path}.${name}`))
    : [];
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}
