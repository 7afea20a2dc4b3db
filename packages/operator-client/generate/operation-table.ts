/** A plugin of `openapi-ts`: the facts about each operation that the runtime needs, by method and path, and the names of secrets. */
import { $, definePluginConfig } from '@hey-api/openapi-ts';
import type { DefinePlugin } from '@hey-api/openapi-ts';
import { parseDocument, readOperations, responseFor, secretNames } from '@reseller/contract';
import type { Operation } from '@reseller/contract';

import { identifyingProperty } from '../../client/generate/facts.ts';

type OperationTablePlugin = DefinePlugin<{ name: string }>;

const handler: OperationTablePlugin['Handler'] = ({ plugin }) => {
  const document = parseDocument(plugin.context.spec);
  const operations = readOperations(document).map((operation) => {
    const { id, method, path, readOnly, billable, retry } = operation;
    const has = identifyingProperty(document, successSchemaOf(operation));
    const effect = readOnly ? 'read' : billable ? 'purchase' : 'write';
    return [`${method} ${path}`, { id, effect, repeatable: retry === 'safe', ...(has !== undefined && { has }) }];
  });
  const table = $.fromValue(Object.fromEntries(operations), { layout: 'pretty' });
  plugin.node($.const(plugin.symbol('operations')).export().assign($(table).as('const')));
  const secrets = $.fromValue([...secretNames(document)].toSorted());
  plugin.node($.const(plugin.symbol('secretNames')).export().assign($(secrets).as('const')));
};

/** The schema of the body of a successful response. Undefined if it has none, or is not JSON. */
function successSchemaOf(operation: Operation): unknown {
  const pointer = responseFor(operation, 200) ?? responseFor(operation, 201);
  const schema = pointer?.content['application/json']?.pointer;
  return schema === undefined ? undefined : { $ref: `#${schema}` };
}

const defaults: OperationTablePlugin['Config'] = { config: {}, handler, name: 'operation-table' };

export const operationTable = definePluginConfig(defaults);
