/** A plugin of `openapi-ts`: the facts about each operation that the runtime needs, by method and path, and the names of secrets. */
import { $, definePluginConfig } from '@hey-api/openapi-ts';
import type { DefinePlugin } from '@hey-api/openapi-ts';
import { parseDocument, readOperations, secretNames } from '@reseller/contract';

type OperationTablePlugin = DefinePlugin<{ name: string }>;

const handler: OperationTablePlugin['Handler'] = ({ plugin }) => {
  const document = parseDocument(plugin.context.spec);
  const operations = readOperations(document).map(({ id, method, path, readOnly, billable, retry }) => [
    `${method} ${path}`,
    { id, effect: readOnly ? 'read' : billable ? 'purchase' : 'write', repeatable: retry === 'safe' },
  ]);
  const table = $.fromValue(Object.fromEntries(operations), { layout: 'pretty' });
  plugin.node($.const(plugin.symbol('operations')).export().assign($(table).as('const')));
  const secrets = $.fromValue([...secretNames(document)].toSorted());
  plugin.node($.const(plugin.symbol('secretNames')).export().assign($(secrets).as('const')));
};

const defaults: OperationTablePlugin['Config'] = { config: {}, handler, name: 'operation-table' };

export const operationTable = definePluginConfig(defaults);
