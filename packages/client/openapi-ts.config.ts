import { defineConfig } from '@hey-api/openapi-ts';

import { operationTable } from './generate/operation-table.ts';
import { runtime, RUNTIME_MODULE } from './generate/runtime.ts';
import { dropRemarks, openEnumeration } from './generate/types.ts';

export default defineConfig({
  input: '../../openapi/dist/openapi.json',
  logs: { file: false },
  parser: { patch: { input: dropRemarks } },
  output: {
    // `generate:check` generates into another directory and compares.
    path: process.env['GENERATE_INTO'] ?? 'src/generated',
    entryFile: false,
    module: {
      extension: '.ts',
      resolve: (specifier) => (specifier === RUNTIME_MODULE ? '../runtime/client.ts' : undefined),
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
});
