/** Constants of the whole document: addresses, secret names, and the version in the user agent. */
import { markedNames, readOperations, secretNames } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';

import { items, members, quoted, source } from './json.ts';

/** `document.gen.ts` */
export function writeDocumentFacts(document: OpenApiDocument, manifest: unknown): string {
  const secrets = [...secretNames(document)].toSorted();
  const personal = [...markedNames(document, 'x-personal')].toSorted();
  return [
    '/** Names of the properties that the document marks as secret (`x-secret`). */',
    `export type SecretName = ${secrets.map(quoted).join(' | ')};`,
    '',
    '/** The same names at run time. */',
    `export const SECRETS: ReadonlySet<string> = /* @__PURE__ */ new Set(${source(secrets)});`,
    '',
    '/** Names of the properties with personal data (`x-personal`). */',
    `export const PERSONAL: readonly string[] = ${source(personal)};`,
    '',
    '/** The base addresses of the document. */',
    `export const ENVIRONMENTS = ${source(environments(document))} as const;`,
    '',
    '/** The header of the API key. */',
    `export const API_KEY_HEADER = ${quoted(apiKeyHeader(document))};`,
    '',
    '/** Version of this package. */',
    `export const VERSION = ${quoted(String(members(manifest)['version']))};`,
    '',
  ].join('\n');
}

function apiKeyHeader(document: OpenApiDocument): string {
  const headers = new Set(readOperations(document).map(({ security }) => security?.keys[0]?.name));
  const [header] = headers;
  if (headers.size !== 1 || header === undefined) throw new Error('Every operation of the document must need the same API key header.');
  return header;
}

function environments(document: unknown): Record<string, string> {
  return Object.fromEntries(
    items(members(document)['servers']).map((server) => {
      const { url, description } = members(server);
      return [String(description).toLowerCase(), String(url)];
    }),
  );
}
