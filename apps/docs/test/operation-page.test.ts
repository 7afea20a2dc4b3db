/** The page of an operation has everything that the document says about it, and the menu has each operation once. */
import { expect, test } from 'vitest';

import { sectionsOf } from '../src/concepts.ts';
import { operationsOf, readDocument, responseOf, schemaOf } from '../src/document.ts';
import type { OpenApi, PlacedOperation, Schema } from '../src/document.ts';
import { navigationsOf } from '../src/navigation.ts';
import { operationPage } from '../src/operation-page.ts';
import { isOfExtension, operationPath, references } from '../src/references.ts';
import { samplesOf } from '../src/samples.ts';

const documents = await Promise.all(references.map(async (reference) => ({ reference, document: await readDocument(reference) })));
const [reseller] = documents;
if (reseller === undefined) throw new Error('The site has no reference.');

/** The names of the fields of a schema, without those within them, with whether a field is of the extension. */
function namesOf(document: OpenApi, schema: Schema): [name: string, isExtension: boolean][] {
  const { properties = {}, allOf = [] } = schemaOf(document, schema);
  const own = Object.entries(properties).map(([name, part]): [string, boolean] => [
    name,
    isOfExtension(part) || isOfExtension(schemaOf(document, part)),
  ]);
  return [...own, ...allOf.flatMap((part) => namesOf(document, part))];
}

/** What the page must have: lines that begin so, and whether they end with the badge of the extension. */
function expectedRows(document: OpenApi, { operation }: PlacedOperation): { row: string; isExtension: boolean }[] {
  const [media] = Object.values(operation.requestBody?.content ?? {});
  const responses = Object.entries(operation.responses).map(([status, part]) => ({ status, response: responseOf(document, part) }));
  const success = responses.find(({ status }) => status.startsWith('2'))?.response;
  const [answer] = Object.values(success?.content ?? {});
  const fields = [media?.schema, answer?.schema].flatMap((schema) => (schema === undefined ? [] : namesOf(document, schema)));
  const headers = new Set(responses.flatMap(({ response }) => Object.keys(response.headers ?? {})));
  const isWithin = isOfExtension(operation);
  return [
    ...fields.map(([name, isExtension]) => ({ row: `| \`${name}\` |`, isExtension: isExtension && !isWithin })),
    ...responses
      .filter(({ status }) => !status.startsWith('2'))
      .map(({ status, response }) => ({ row: `| ${status} |`, isExtension: isOfExtension(response) && !isWithin })),
    ...[...headers].map((name) => ({ row: `| \`${name}\` |`, isExtension: false })),
  ];
}

test.each(documents)('the pages of the $reference.name API have each field, status and header', ({ reference, document }) => {
  const missing = operationsOf(document).flatMap((placed) => {
    const { markdown } = operationPage(document, placed, reference, samplesOf(document, placed, reference));
    const lines = markdown.split('\n');
    return expectedRows(document, placed)
      .filter(({ row, isExtension }) => {
        const line = lines.find((one) => one.startsWith(row));
        return line === undefined || /\[extension\]\([^)]*\) \|$/.test(line) !== isExtension;
      })
      .map(({ row }) => `${placed.id}: ${row}`);
  });
  expect(missing).toEqual([]);
});

test('the fields and the status of the price guard have the badge of the extension', () => {
  const { reference, document } = reseller;
  const placed = operationsOf(document).find(({ id }) => id === 'createVm');
  if (placed === undefined) throw new Error('There is no createVm.');
  const badged = expectedRows(document, placed).filter(({ isExtension }) => isExtension);
  expect(badged.map(({ row }) => row)).toEqual(expect.arrayContaining(['| `max_price` |', '| `user_data` |', '| 412 |']));
  expect(operationPath(reference, placed.operation)).toBe('operations/reseller/createVm');
});

test('the menu has each operation once, by resource, with a quote after what it quotes', () => {
  const menu = JSON.stringify(navigationsOf(sectionsOf(documents))['']?.sidebar['/operations/reseller/']);
  for (const { id, operation } of operationsOf(reseller.document)) {
    expect.soft(menu.split(`"/${operationPath(reseller.reference, operation)}"`).length - 1, id).toBe(1);
  }
  const order = ['"VM"', '/createVm"', '/quoteCreateVm"', '/listVms"', '"Backups"', '/createVmBackup"', '"Dedicated"', '/registerDomain"'];
  const places = order.map((text) => menu.indexOf(text));
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(places).not.toContain(-1);
});
