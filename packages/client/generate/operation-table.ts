/**
 * A plugin of `openapi-ts` that writes a constant for each operation with the facts that its types do not state (`src/runtime/operation.ts`).
 * It acts as the validator of requests, so that `@hey-api/sdk` writes the constant into the function of the operation.
 */
import { $, definePluginConfig } from '@hey-api/openapi-ts';
import type { DefinePlugin } from '@hey-api/openapi-ts';
import { parseDocument, readOperations } from '@reseller/contract';

import { factsOf } from './facts.ts';

type OperationTablePlugin = DefinePlugin<{ name: string }>;

function symbolOf(id: string) {
  return { category: 'facts', resource: 'operation', resourceId: id } as const;
}

const handler: OperationTablePlugin['Handler'] = ({ plugin }) => {
  const document = parseDocument(plugin.context.spec);
  for (const operation of readOperations(document)) {
    const facts = $.fromValue(factsOf(document, operation), { layout: 'pretty' });
    const symbol = plugin.symbol(`${operation.id}Facts`, { meta: symbolOf(operation.id) });
    plugin.node($.const(symbol).export().assign($(facts).as('const')));
  }
};

/** What `@hey-api/sdk` asks of a validator: an expression for the function of an operation. */
const api = {
  createRequestValidator: ({ operation, plugin }: { operation: { id: string }; plugin: OperationTablePlugin['Instance'] }) =>
    $(plugin.referenceSymbol(symbolOf(operation.id))),
};

const defaults: OperationTablePlugin['Config'] & { readonly api: typeof api } = {
  api,
  config: {},
  handler,
  name: 'operation-table',
  tags: ['validator'],
};

export const operationTable = definePluginConfig(defaults);
