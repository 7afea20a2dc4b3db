/** What holds for every operation: addresses, secret names, and the version in the user agent. */
import { readOperations } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';

import { items, members, quoted, source } from './json.ts';

/** `document.gen.ts` */
export function writeDocumentFacts(document: OpenApiDocument, manifest: unknown): string {
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
  ].join('\n');
}

function apiKeyHeader(document: OpenApiDocument): string {
  const headers = new Set(readOperations(document).map(({ security }) => security?.header));
  const [header] = headers;
  if (headers.size !== 1 || header === undefined) throw new Error('Every operation of the document must need the same API key header.');
  return header;
}

function environments(document: unknown): Record<string, string> {
  return Object.fromEntries(
    items(members(document)['servers']).map((server) => {
      const { url, description, variables } = members(server);
      // The first word of a server's description is its name: "Live. …".
      const [name = ''] = /^\w+/.exec(String(description)) ?? [];
      const filled = String(url).replaceAll(/\{(\w+)\}/g, (_, variable: string) =>
        String(members(members(variables)[variable])['default']),
      );
      return [name.toLowerCase(), filled];
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
