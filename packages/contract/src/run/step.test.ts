import { expect, test } from 'vitest';

import { parseDocument } from '../document/document.ts';
import { readOperations } from '../document/operations.ts';
import { NO_PARAMETERS } from '../document/parameters.ts';
import { bodyOf } from './step.ts';

const types = ['integer', 'number', 'string'] as const;
const properties = Object.fromEntries(types.map((type) => [type, { type }]));

function operationWith(mediaType: string) {
  const [operation] = readOperations(
    parseDocument({
      openapi: '3.1.0',
      info: { title: 'A', version: '1' },
      paths: {
        '/things': {
          post: {
            operationId: 'createThing',
            requestBody: { content: { [mediaType]: { schema: { type: 'object', properties } } } },
            responses: { 200: { description: 'ok' } },
          },
        },
      },
    }),
  );
  if (operation === undefined) throw new Error('The document has no operation.');
  return operation;
}

test.each(['7', '-7', '0', '12345', 'a7', '7.5', ''])(
  'the identifier "%s" is a number in JSON only if it is one and its field takes numbers',
  (id) => {
    const step = {
      operation: operationWith('application/json'),
      purpose: 'call',
      method: 'POST',
      credential: 'account',
      path: 'none',
      form: { values: {}, isFromDocument: true, found: {} },
      parameters: NO_PARAMETERS,
      detail: '',
      times: 1,
      phase: 1,
      effect: 'changes',
    } as const;
    const found = Object.fromEntries(types.map((type) => [type, id]));
    const number = /^-?\d+$/.test(id) ? Number(id) : id;
    expect(JSON.parse(bodyOf(step, found) ?? '')).toEqual({ integer: number, number, string: id });
    const form = bodyOf({ ...step, operation: operationWith('application/x-www-form-urlencoded') }, found);
    expect(form).toBe(types.map((type) => `${type}=${id}`).join('&'));
  },
);
