import { join } from 'node:path';

import { defineConfig } from '@hey-api/openapi-ts';

// The check of what is committed generates beside it.
const into = process.env['GENERATE_INTO'] ?? 'src/generated';

/** The types and routes of one document. */
const routesOf = (document: string, path: string) => ({
  input: `../../openapi/dist/${document}.json`,
  logs: { file: false },
  // Both are written at once, one into a folder of the other's: the script `generate` empties the whole, neither run its own.
  output: { path, clean: false, module: { extension: '.ts' } },
  plugins: [{ name: '@hey-api/typescript' as const, responses: { response: '{{name}}Success' } }, { name: 'fastify' as const }],
});

export default defineConfig([routesOf('openapi', into), routesOf('operator', join(into, 'operator'))]);
