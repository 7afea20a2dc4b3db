import bundle from '@reseller/openapi/openapi.json' with { type: 'json' };
import { expect, test } from 'vitest';

import { parseDocument } from '../document/document.ts';
import { replaced } from '../document/replace.ts';
import { diffDocuments } from './diff-documents.ts';

const before = parseDocument(bundle);
const FORM = '/components/schemas/CreateVmForm';
const SERVER = '/components/schemas/DedicatedServer';

/** The effects of a change at one place of the reseller document. */
function change(pointer: string, value: unknown): readonly string[] {
  return diffDocuments(before, parseDocument(replaced(bundle, pointer, value))).map(({ impact, what }) => `${impact}: ${what}`);
}

test('finds no changes between a document and itself', () => {
  expect(diffDocuments(before, parseDocument(structuredClone(bundle)))).toEqual([]);
});

test.each<[string, unknown, string]>([
  ['/paths/~1domain~1list', undefined, 'breaking: GET /domain/list is gone'],
  ['/paths/~1vm~1new', { get: { operationId: 'newOne', responses: {} } }, 'safe: GET /vm/new is new'],
  [`${FORM}/properties/hostname`, undefined, 'breaking: hostname is gone'],
  [`${FORM}/properties/tags`, { type: 'string' }, 'safe: tags is new'],
  [`${FORM}/required`, ['cores', 'mem', 'disk', 'os', 'hostsystem', 'hostname'], 'breaking: hostname is required now'],
  [`${FORM}/required`, ['cores', 'mem', 'disk', 'os'], 'safe: hostsystem is optional now'],
  [`${FORM}/properties/cores/minimum`, 2, 'breaking: minimum of cores is 2 instead of 1'],
  [`${FORM}/properties/cores/minimum`, 0, 'safe: minimum of cores is 0 instead of 1'],
  [`${FORM}/properties/hostname/maxLength`, 64, 'breaking: maxLength of hostname is 64 instead of 253'],
  [`${FORM}/properties/cores/description`, 'Cores.', 'documentation: description of cores changed'],
  [`${SERVER}/properties/deployed`, undefined, 'breaking: data.deployed is gone'],
  [`${SERVER}/properties/rack`, { type: 'string' }, 'safe: data.rack is new'],
  [`${SERVER}/properties/deployed/type`, ['boolean', 'null'], 'breaking: data.list.*.deployed can be null now'],
  [`${SERVER}/properties/identifier/format`, undefined, 'breaking: data.list.*.identifier no longer has the format uuid'],
  ['/components/schemas/DomainStatus/anyOf/0/enum', ['OK', 'LOCK', 'PARKED'], 'safe: data.domain.status can be PARKED now'],
  ['/paths/~1domain~1list/get/responses/429', undefined, 'safe: the response 429 is gone'],
  ['/paths/~1domain~1list/get/responses/200', undefined, 'breaking: the response 200 is gone'],
  ['/paths/~1domain~1list/get/x-billable', true, 'breaking: it costs money now'],
  ['/paths/~1domain~1list/get/summary', 'Domains', 'documentation: its summary changed'],
  [
    '/components/securitySchemes/ApiKey/name',
    'X-OTHER',
    'breaking: the API key in the header X-SERVICE-APIKEY is no longer sufficient; the operation now requires the API key in the header X-OTHER',
  ],
  ['/info/version', '2.0.0', 'documentation: the version is 2.0.0 instead of 1.0.0'],
])('%s = %j', (pointer, value, expected) => {
  const found = change(pointer, value);
  // A change of a shared schema is reported once, with the name of its first place.
  const last = expected.split('.').at(-1) ?? '';
  expect(found.some((text) => text === expected || (text.startsWith(expected.split(':', 1)[0] ?? '') && text.endsWith(last)))).toBe(true);
});

test('reports a change of a shared schema once, with its place and all affected operations', () => {
  const changes = diffDocuments(before, parseDocument(replaced(bundle, `${SERVER}/properties/rack`, { type: 'string' })));
  expect(changes).toHaveLength(1);
  expect(changes[0]).toMatchObject({
    impact: 'safe',
    at: `${SERVER}/properties/rack`,
    operations: ['listDedicatedServers', 'getDedicatedServer'],
  });
});
