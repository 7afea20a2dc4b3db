/** The configuration of `openapi-ts` for a document. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import type { UserConfig } from '@hey-api/openapi-ts';
import { parseDocument, readOperations, valueAt } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';

import { operationTable } from './operation-table.ts';
import { runtime, RUNTIME_MODULE } from './runtime.ts';
import { dropFailures, dropRemarks, openEnumeration, textOrValue } from './types.ts';

/** The generator drops schemas that no written operation refers to, also those of webhooks, and then does not find them. */
const WEBHOOK_SCHEMAS: readonly string[] = ['WebhookPayload'];

/**
 * @param document The name of its bundle.
 * @param folder The folder in `src/generated` that the code is written to; empty for `src/generated` itself.
 * @param operations The operations to write, by method and path. By default all.
 */
export function configOf(document: string, folder: string, operations?: readonly string[]): UserConfig {
  return {
    input: bundlePath(document),
    logs: { file: false },
    parser: {
      patch: {
        input(spec) {
          dropRemarks(spec);
          dropFailures(spec);
        },
      },
      ...(operations && { filters: { operations: { include: operations }, schemas: { include: [...WEBHOOK_SCHEMAS] } } }),
    },
    output: {
      // `generate:check` generates into another directory and compares.
      path: `${process.env['GENERATE_INTO'] ?? 'src/generated'}/${folder}`,
      // Both documents are generated at the same time, and the other folder is in this one.
      clean: folder !== '',
      entryFile: false,
      module: {
        extension: '.ts',
        resolve: (specifier) => (specifier === RUNTIME_MODULE ? `${folder === '' ? '' : '../'}../runtime/client.ts` : undefined),
      },
    },
    plugins: [
      {
        name: '@hey-api/typescript',
        // The document has schemas called XxxResponse. The successful responses of an operation need another name.
        responses: { response: '{{name}}Success' },
        $resolvers: { string: textOrValue, union: openEnumeration },
      },
      runtime(),
      operationTable(),
      // Every operation needs the same key, which the runtime sends.
      { name: '@hey-api/sdk', client: false, auth: false, validator: { request: true } },
    ],
  };
}

export function readDocument(name: string): OpenApiDocument {
  return parseDocument(JSON.parse(readFileSync(bundlePath(name), 'utf8')));
}

function bundlePath(name: string): string {
  return join(import.meta.dirname, `../../../openapi/generated/${name}.json`);
}

/** The operations that a document adds to another one or describes differently, by method and path. */
export function addedOperations(base: OpenApiDocument, extended: OpenApiDocument): readonly string[] {
  const known = new Map(readOperations(base).map(({ id, pointer }) => [id, referencedParts(base, pointer)]));
  return readOperations(extended)
    .filter(({ id, pointer }) => !isDeepStrictEqual(known.get(id), referencedParts(extended, pointer)))
    .map(({ method, path }) => `${method} ${path}`);
}

/** A part of a document and all parts that it refers to, by pointer. */
function referencedParts(document: OpenApiDocument, pointer: string): ReadonlyMap<string, unknown> {
  const parts = new Map([[pointer, valueAt(document, pointer)]]);
  // The loop also visits the parts that it adds.
  for (const [, part] of parts)
    for (const [, found = ''] of JSON.stringify(part).matchAll(/"\$ref":"#([^"]+)"/g)) parts.set(found, valueAt(document, found));
  return parts;
}
