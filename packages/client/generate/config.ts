/** The configuration of `openapi-ts` for a document. */
import type { UserConfig } from '@hey-api/openapi-ts';

import { operationTable } from './operation-table.ts';
import { runtime, RUNTIME_MODULE } from './runtime.ts';
import { dropRemarks, openEnumeration } from './types.ts';

/**
 * @param document The name of its bundle.
 * @param folder The folder in `src/generated` that the code is written to; empty for `src/generated` itself.
 */
export function configOf(document: string, folder: string): UserConfig {
  return {
    input: `../../openapi/generated/${document}.json`,
    logs: { file: false },
    parser: { patch: { input: dropRemarks } },
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
        $resolvers: { union: openEnumeration },
      },
      runtime(),
      // Every operation needs the same key, which the runtime sends.
      { name: '@hey-api/sdk', client: false, auth: false },
      operationTable(),
    ],
  };
}
