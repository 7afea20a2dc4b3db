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

function formOf({ pointer, method, parameters, body }: Operation): Form {
  const [example] = Object.values(body?.examples ?? {});
  return {
    description: descriptionAt(pointer).replace(/ Needs the scope `\w+`\.$/, ''),
    path: parameters
      .filter((parameter) => parameter.in === 'path')
      .map((parameter, index, all) => parameterField(parameter, method === 'PUT' && index === all.length - 1)),
    body: body === undefined ? [] : fieldsOf(body.schema, { example: example?.value }),
  };
}

/** @param isNamed Whether the value names what the operation makes, and so identifies nothing that exists. */
function parameterField({ name, schema, holder }: Parameter, isNamed: boolean): Field {
  const { 'x-list': list, 'x-any-name': anyName } = Object(valueAt(document, holder));
  const field = fieldOf(name, { ...Object(schema), description: descriptionAt(holder), 'x-list': isNamed ? undefined : list }, true);
  return isNamed && anyName === true ? { ...field, anyName } : field;
}

function descriptionAt(pointer: string): string {
  return String(Object(valueAt(document, pointer)).description);
}
