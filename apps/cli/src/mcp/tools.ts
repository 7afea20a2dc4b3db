/** The operations of an API as tools. */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { secretNames } from '@reseller/contract';
import type { Operation } from '@reseller/contract';

import type { Api, ApiCommand } from '../api.ts';
import { columnNames } from '../columns.ts';
import { descriptionAt } from '../input.ts';
import { firstSentence } from '../text.ts';
import { effectOf } from './effects.ts';
import { DEFAULT_LIMIT, MAX_LIMIT } from './results.ts';
import { inputSchema, outputSchema } from './schema.ts';

/** A tool and its operation. */
export interface OperationTool {
  readonly api: Api;
  readonly operation: Operation;
  readonly tool: Tool;
  /** The group of its command, which a user can choose: `vm`, `operator-invoices`. */
  readonly toolset: string;
  /** Whether what is only for the user can be written to a file. */
  readonly keepsSecrets: boolean;
}

const PAGING = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    description: `How many items of a list are returned. Default ${DEFAULT_LIMIT}.`,
  },
  offset: { type: 'integer', minimum: 0, description: 'How many items of a list are left out at its beginning.' },
  summary: { type: 'boolean', description: 'Only totals: a list becomes its number of items.' },
};

/** The tools of an API: those that only read, or all. A change with a secret in its response needs a place where the user finds it. */
export function toolsOf(
  api: Api,
  { allowWrites, keepsSecrets }: { readonly allowWrites: boolean; readonly keepsSecrets: boolean },
): readonly OperationTool[] {
  const secrets = secretNames(api.document);
  function isLost({ operation }: ApiCommand): boolean {
    if (operation.readOnly || keepsSecrets) return false;
    return columnNames(api, operation).some((name) => secrets.has(name.split('.').at(-1) ?? ''));
  }
  return api.commands
    .filter((command) => (allowWrites || command.operation.readOnly) && !isLost(command))
    .map((command) => ({
      api,
      operation: command.operation,
      tool: toolOf(api, command),
      keepsSecrets,
      toolset: `${api.name === 'operator' ? 'operator-' : ''}${command.words[0]}`,
    }));
}

function toolOf(api: Api, { words, operation }: ApiCommand): Tool {
  const { readOnly, destructive, retry, billable, summary } = operation;
  const schema = inputSchema(api.document, operation);
  const output = outputSchema(api, operation);
  const facts = [
    billable ? 'Costs money.' : '',
    destructive ? 'Cannot be undone.' : '',
    effectOf(api, operation) === undefined ? '' : 'The user is asked first.',
  ];
  return {
    name: nameOf(api, words),
    title: summary,
    description: [firstSentence(descriptionAt(api.document, operation.pointer)), ...facts].filter((text) => text !== '').join(' '),
    // A parameter of the operation with one of these names is the same thing, and goes to the service.
    inputSchema: readOnly ? { ...schema, properties: { ...PAGING, ...schema.properties } } : schema,
    ...(output && { outputSchema: output }),
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
