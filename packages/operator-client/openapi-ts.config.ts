import { defineConfig } from '@hey-api/openapi-ts';

import { runtime, RUNTIME_MODULE } from '../client/generate/runtime.ts';
import { dropFailures, openEnumeration } from '../client/generate/types.ts';
import { operationTable } from './generate/operation-table.ts';

export default defineConfig({
  input: '../../openapi/generated/operator.json',
  logs: { file: false },
  parser: { patch: { input: dropFailures } },
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
      // The response of a successful operation is named as in the reseller client.
      responses: { response: '{{name}}Success' },
      $resolvers: { union: openEnumeration },
    },
    runtime(),
    // Every operation needs a token, which the runtime sends.
    { name: '@hey-api/sdk', client: false, auth: false },
    operationTable(),
  ],
});
