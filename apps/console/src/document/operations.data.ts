/** What the document of the operator API says about each operation. */
import { parseDocument, readOperations, valueAt } from '@reseller/contract';
import type { Operation } from '@reseller/contract';
import operatorDocument from '@reseller/openapi/operator.json' with { type: 'json' };
import type { OperationId } from '@reseller/operator-client';

const document = parseDocument(operatorDocument);

interface Facts extends Pick<Operation, 'method' | 'path' | 'summary'> {
  readonly scope: string;
  readonly sandboxOnly: boolean;
}

export const operations: Readonly<Record<OperationId, Facts>> = Object.assign(
  {},
  ...readOperations(document).map((operation) => ({ [operation.id]: factsOf(operation) })),
);

function factsOf({ method, path, summary, pointer }: Operation): Facts {
  const { 'x-scope': scope, 'x-sandbox-only': sandboxOnly } = Object(valueAt(document, pointer));
  return { method, path, summary, scope: String(scope), sandboxOnly: sandboxOnly === true };
}
