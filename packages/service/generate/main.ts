/**
 * Writes the route types and facts of both documents. Run through the script `generate`. `generate:check` writes elsewhere and compares.
 * The types of requests and responses exist once, in the packages of the clients.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createClient } from '@hey-api/openapi-ts';

import { dropFailures } from '../../client/generate/types.ts';
import { writeFacts } from './facts.ts';

const ROUTES = 'fastify.gen.ts';
const TYPES_IMPORT = "from './types.gen.ts'";

const into = process.env['GENERATE_INTO'] ?? join(import.meta.dirname, '../src/generated');

rmSync(into, { recursive: true, force: true });
await writeRoutes({ document: 'service', client: '@reseller/client/extension', path: into });
await writeRoutes({ document: 'operator', client: '@reseller/operator-client', path: join(into, 'operator') });
writeFacts(into);

/** The generator writes the types next to the routes. Only the routes are copied, and they import the same types of the client. */
async function writeRoutes({ document, client, path }: { document: string; client: string; path: string }): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'routes-'));
  try {
    await createClient({
      input: join(import.meta.dirname, `../../../openapi/generated/${document}.json`),
      logs: { file: false },
      parser: { patch: { input: dropFailures } },
      output: { path: scratch, module: { extension: '.ts' } },
      // The names of the types are those of the clients.
      plugins: [{ name: '@hey-api/typescript', responses: { response: '{{name}}Success' } }, { name: 'fastify' }],
    });
    const routes = readFileSync(join(scratch, ROUTES), 'utf8');
    if (!routes.includes(TYPES_IMPORT)) throw new Error(`The generated ${ROUTES} does not import ${TYPES_IMPORT}.`);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, ROUTES), routes.replace(TYPES_IMPORT, `from '${client}'`));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
