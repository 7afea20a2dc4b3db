import { parseDocument, readOperations } from '@reseller/contract';
import type { OpenApiDocument, Operation } from '@reseller/contract';
import service from '@reseller/openapi/service.json' with { type: 'json' };

/** The document of the reseller API: the specification and the extension. */
export const resellerDocument = parseDocument(service);

/** The specification alone. Its parts have the same pointers as in the document of both. Only a service without the extension loads it. */
export async function loadSpecification(): Promise<OpenApiDocument> {
  const { default: specification } = await import('@reseller/openapi/openapi.json', { with: { type: 'json' } });
  return parseDocument(specification);
}

/** The operations of the specification and the extension. */
export const documentedOperations: readonly Operation[] = readOperations(resellerDocument);

/** Name of the header that carries the API key. */
export const apiKeyHeader: string = findApiKeyHeader();

function findApiKeyHeader(): string {
  const headers = new Set(documentedOperations.map(({ security }) => security?.keys[0]?.name));
  const [header] = headers;
  if (headers.size !== 1 || header === undefined) throw new Error('Every operation of the document must need the same API key header.');
  return header;
}
