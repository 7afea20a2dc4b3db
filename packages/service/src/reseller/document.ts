import document from '@reseller/openapi/openapi.json' with { type: 'json' };
import { parseDocument, readOperations } from '@reseller/contract';
import type { Operation } from '@reseller/contract';

/** The document of the reseller API. */
export const resellerDocument = parseDocument(document);

export const documentedOperations: readonly Operation[] = readOperations(resellerDocument);

/** Name of the header that carries the API key. */
export const apiKeyHeader: string = findApiKeyHeader();

function findApiKeyHeader(): string {
  const headers = new Set(documentedOperations.map(({ security }) => security?.name));
  const [header] = headers;
  if (headers.size !== 1 || header === undefined) throw new Error('Every operation of the document must need the same API key header.');
  return header;
}
