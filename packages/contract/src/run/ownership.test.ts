import { expect, test } from 'vitest';

import { exchangeWith } from '../../test/exchange-with.ts';
import type { OpenApiDocument } from '../document/document.ts';
import { readOperations } from '../document/operations.ts';
import { NO_PARAMETERS, NOTHING_GIVEN } from '../document/parameters.ts';
import { createValidator } from '../document/validator.ts';
import type { Credential } from '../exchange/exchange.ts';
import { Ownership } from './ownership.ts';
import type { Step } from './step.ts';

const responses = { 200: { description: 'ok', content: { 'application/json': { schema: { type: 'object' } } } } };
const parameters = [{ name: 'note_id', in: 'path', required: true, schema: { type: 'string' } }];
const document: OpenApiDocument = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  paths: {
    '/notes/{note_id}': {
      parameters,
      get: { operationId: 'getNote', responses },
      delete: { operationId: 'deleteNote', responses },
    },
  },
};
const operations = readOperations(document);
const path = { note_id: '7' };

function operationOf(id: string) {
  const operation = operations.find((one) => one.id === id);
  if (operation === undefined) throw new Error(`There is no operation ${id}.`);
  return operation;
}

const removal: Step = {
  operation: operationOf('deleteNote'),
  purpose: 'leftover',
  method: 'DELETE',
  credential: 'account',
  path,
  isUnknown: true,
  form: undefined,
  parameters: NO_PARAMETERS,
  detail: '',
  times: 1,
  phase: 0,
  effect: 'changes',
};

/** Why the run may not remove a note that it made up, after a read with a credential and a status. */
function refusalAfter(credential: Credential, status: number): string | undefined {
  const ownership = new Ownership({
    document,
    validator: createValidator(document),
    operations,
    naming: { names: new Map(), given: NOTHING_GIVEN },
  });
  ownership.saw(exchangeWith(operationOf('getNote'), {}, { path, status, credential }));
  return ownership.refusal(removal, path);
}

test.each([400, 404, 410, 422])(
  'a read with status %i shows that there is no such resource, if it has the key of the account',
  (status) => {
    expect(refusalAfter('account', status)).toBeUndefined();
    for (const credential of ['none', 'wrong'] as const)
      expect(refusalAfter(credential, status)).toBe('no read has shown that there is no such resource');
  },
);

test.each([200, 401, 403, 429, 500])('a read with status %i does not show it', (status) => {
  expect(refusalAfter('account', status)).toMatch(/\S/);
});
