/** A plugin of `openapi-ts` that writes a constant for each operation with the facts that its types do not state (`src/runtime/operation.ts`). */
import { $, definePluginConfig } from '@hey-api/openapi-ts';
import type { DefinePlugin } from '@hey-api/openapi-ts';
import { parseDocument, readOperations } from '@reseller/contract';

import { factsOf } from './facts.ts';

type OperationTablePlugin = DefinePlugin<{ name: string }>;

const handler: OperationTablePlugin['Handler'] = ({ plugin }) => {
  const document = parseDocument(plugin.context.spec);
  for (const operation of readOperations(document)) {
    const facts = $.fromValue(factsOf(document, operation), { layout: 'pretty' });
    plugin.node($.const(plugin.symbol(operation.id)).export().assign($(facts).as('const')));
  }
};

const defaults: OperationTablePlugin['Config'] = { config: {}, handler, name: 'operation-table' };

export const operationTable = definePluginConfig(defaults);
