/** What holds for every operation: addresses, what is secret, the version that the user agent tells. */
import { readOperations } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';

import { follow, items, members, quoted, source } from './json.ts';

/** `facts.gen.ts` */
export function writeFacts(document: OpenApiDocument, manifest: unknown): string {
  const secrets = [...secretNames(document)].toSorted();
  return [
    '/** Names of the properties that the document marks as secret (`x-secret`). */',
    `export type SecretName = ${secrets.map(quoted).join(' | ')};`,
    '',
    '/** The same at run time. */',
    `export const SECRETS: ReadonlySet<string> = /* @__PURE__ */ new Set(${source(secrets)});`,
    '',
    '/** The base addresses of the document. */',
    `export const ENVIRONMENTS = ${source(environments(document))} as const;`,
    '',
    '/** The header that carries the API key. */',
    `export const API_KEY_HEADER = ${quoted(apiKeyHeader(document))};`,
    '',
    '/** Version of this package. */',
    `export const VERSION = ${quoted(String(members(manifest)['version']))};`,
    '',
    '/** How many entries a page of the request log holds at the most. */',
    `export const LOG_PAGE = ${pageSize(document, 'listRequests')};`,
    '',
  ].join('\n');
}

function apiKeyHeader(document: OpenApiDocument): string {
  const headers = new Set(readOperations(document).map(({ security }) => security?.name));
  const [header] = headers;
  if (headers.size !== 1 || header === undefined) throw new Error('Every operation of the document must need the same API key header.');
  return header;
}

/** How many items the list that an operation answers holds at the most. */
function pageSize(document: OpenApiDocument, id: string): number {
  const schema = readOperations(document).find((operation) => operation.id === id)?.responses['200']?.content['application/json']?.schema;
  for (const part of [schema, ...items(members(schema)['allOf'])]) {
    const data = members(follow(document, members(members(follow(document, part))['properties'])['data']));
    if (typeof data['maxItems'] === 'number') return data['maxItems'];
  }
  throw new Error(`The document says of ${id} no maxItems: whether a page is the last cannot be told.`);
}

function environments(document: unknown): Record<string, string> {
  return Object.fromEntries(
    items(members(document)['servers']).map((server) => {
      const { url, description } = members(server);
      return [String(description).toLowerCase(), String(url)];
    }),
  );
}

function secretNames(value: unknown, found = new Set<string>()): Set<string> {
  for (const [name, property] of Object.entries(members(members(value)['properties']))) {
    if (members(property)['x-secret'] === true) found.add(name);
  }
  const children = Array.isArray(value) ? value : Object.values(members(value));
  for (const child of children) secretNames(child, found);
  return found;
}
