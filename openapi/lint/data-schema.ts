import { join } from 'node:path';

import type { Oas3Preprocessor } from '@redocly/openapi-core';

import { referenceTo } from './nodes.ts';

const DATA = 'x-data';

/**
 * Writes a schema with `x-data` as the envelope of a success with that `data`.
 *
 * @param folder - folder of the documents
 * @returns a preprocessor with the option `home`: the file that has the schema of the envelope, relative to `folder`
 */
export function dataSchema(folder: string): Oas3Preprocessor {
  return ({ home }) => ({
    Schema: {
      enter(schema, { location }) {
        const data: unknown = Reflect.get(schema, DATA);
        if (data === undefined) return;
        Reflect.deleteProperty(schema, DATA);
        const $ref = `${referenceTo(join(folder, String(home)), location.source.absoluteRef)}#/components/schemas/SuccessEnvelope`;
        Object.assign(schema, { allOf: [{ $ref }, { type: 'object', required: ['data'], properties: { data } }] });
      },
    },
  });
}
