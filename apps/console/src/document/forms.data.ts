/** The form of each operation that changes something. */
import { parseDocument, readOperations, valueAt } from '@reseller/contract';
import type { Operation, Parameter } from '@reseller/contract';
import operatorDocument from '@reseller/openapi/operator.json' with { type: 'json' };

import { createFieldReader } from './fields.ts';
import type { Field } from './fields.ts';

/** The values that the console asks for before it sends an operation. */
export interface Form {
  readonly description: string;
  readonly path: readonly Field[];
  readonly body: readonly Field[];
}

const document = parseDocument(operatorDocument);
const { fieldOf, fieldsOf } = createFieldReader(document);

export const forms: Readonly<Record<string, Form>> = Object.fromEntries(
  readOperations(document)
    .filter(({ method }) => method !== 'GET')
    .map((operation) => [operation.id, formOf(operation)]),
);

function formOf({ pointer, parameters, body }: Operation): Form {
  const [example] = Object.values(body?.examples ?? {});
  return {
    description: descriptionAt(pointer),
    path: parameters.filter((parameter) => parameter.in === 'path').map(parameterField),
    body: body === undefined ? [] : fieldsOf(body.schema, example?.value),
  };
}

function parameterField({ name, schema, holder }: Parameter): Field {
  return fieldOf(name, { ...Object(schema), description: descriptionAt(holder) }, true);
}

function descriptionAt(pointer: string): string {
  return String(Object(valueAt(document, pointer)).description);
}
