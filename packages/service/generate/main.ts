/** Writes the types, routes and facts of both documents. Run through the script `generate`; `generate:check` writes elsewhere and compares. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { createClient } from '@hey-api/openapi-ts';

import { writeFacts } from './facts.ts';

const into = process.env['GENERATE_INTO'] ?? join(import.meta.dirname, '../src/generated');

// The operator's folder is inside the other one, so neither run may empty its own.
rmSync(into, { recursive: true, force: true });
for (const { document, path } of [
  { document: 'openapi', path: into },
  { document: 'operator', path: join(into, 'operator') },
]) {
  await createClient({
    input: join(import.meta.dirname, `../../../openapi/dist/${document}.json`),
    logs: { file: false },
    output: { path, clean: false, module: { extension: '.ts' } },
    plugins: [{ name: '@hey-api/typescript', responses: { response: '{{name}}Success' } }, { name: 'fastify' }],
  });
}
writeFacts(into);
