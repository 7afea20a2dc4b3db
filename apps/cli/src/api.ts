/** The two APIs as their documents describe them. */
import { parseDocument, readOperations } from '@reseller/contract';
import type { OpenApiDocument, Operation } from '@reseller/contract';
import operatorDocument from '@reseller/openapi/operator.json' with { type: 'json' };
import resellerDocument from '@reseller/openapi/service.json' with { type: 'json' };

import { LEFT_OUT, OPERATOR_COMMANDS, RESELLER_COMMANDS } from './names.ts';

export interface Api {
  readonly name: 'reseller' | 'operator';
  readonly document: OpenApiDocument;
  /** The operations with the words of their commands: `vm create`. */
  readonly commands: readonly ApiCommand[];
}

export interface ApiCommand {
  /** `['vm', 'create']`, `['account', 'keys', 'rotate']`. */
  readonly words: readonly string[];
  readonly operation: Operation;
}

/** The reseller API with its extension. */
export function resellerApi(): Api {
  return readApi('reseller', resellerDocument, RESELLER_COMMANDS);
}

/** The operator API. */
export function operatorApi(): Api {
  return readApi('operator', operatorDocument, OPERATOR_COMMANDS);
}

function readApi(name: Api['name'], json: unknown, names: Readonly<Record<string, string>>): Api {
  const document = parseDocument(json);
  const operations = readOperations(document).filter(({ id }) => !LEFT_OUT.has(id));
  const commands = operations.map((operation): ApiCommand => ({ words: (names[operation.id] ?? operation.id).split(' '), operation }));
  return { name, document, commands };
}
