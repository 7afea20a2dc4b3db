/** The operations of an API as tools. */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';

import type { Api, ApiCommand } from '../api.ts';
import { descriptionAt } from '../input.ts';
import { firstSentence } from '../text.ts';
import { DEFAULT_LIMIT, MAX_LIMIT } from './results.ts';
import { inputSchema } from './schema.ts';

/** A tool and its operation. */
export interface OperationTool {
  readonly api: Api;
  readonly operation: ApiCommand['operation'];
  readonly tool: Tool;
}

const PAGING = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    description: `How many items of a list are returned. Default ${DEFAULT_LIMIT}.`,
  },
  offset: { type: 'integer', minimum: 0, description: 'How many items of a list are left out at its beginning.' },
};

/** The tools of an API: those that only read, or all. */
export function toolsOf(api: Api, allowWrites: boolean): readonly OperationTool[] {
  const operations = api.commands.filter(({ operation }) => allowWrites || operation.readOnly);
  return operations.map((command) => ({ api, operation: command.operation, tool: toolOf(api, command) }));
}

function toolOf(api: Api, { words, operation }: ApiCommand): Tool {
  const { readOnly, destructive, retry, billable, summary } = operation;
  const schema = inputSchema(api.document, operation);
  const facts = [billable ? 'Costs money: the user is asked first.' : '', destructive ? 'Cannot be undone: the user is asked first.' : ''];
  return {
    name: nameOf(api, words),
    title: summary,
    description: [firstSentence(descriptionAt(api.document, operation.pointer)), ...facts].filter((text) => text !== '').join(' '),
    // A parameter of the operation with one of these names is the same thing, and goes to the service.
    inputSchema: readOnly ? { ...schema, properties: { ...PAGING, ...schema.properties } } : schema,
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: destructive,
      idempotentHint: readOnly || retry === 'safe',
      openWorldHint: true,
    },
  };
}

/** `vm_create` and `operator_accounts_list`. */
function nameOf({ name }: Api, words: ApiCommand['words']): string {
  return [...(name === 'operator' ? ['operator'] : []), ...words].join('_').replaceAll('-', '_');
}
