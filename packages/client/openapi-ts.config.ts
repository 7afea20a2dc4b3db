import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  input: '../../openapi/dist/openapi.json',
  logs: { file: false },
  output: {
    // The check of what is committed generates beside it.
    path: process.env['GENERATE_INTO'] ?? 'src/generated',
    module: {
      extension: '.ts',
      // The generated functions run on our own runtime instead of the generator's.
      resolve: (specifier) => (specifier === '@hey-api/client-fetch' ? '../runtime/client.ts' : undefined),
    },
  },
  plugins: [
    {
      name: '@hey-api/typescript',
      // A schema of the document is called XxxResponse; the union of an operation's good answers is not the same thing.
      responses: { response: '{{name}}Success' },
    },
    { name: '@hey-api/client-fetch', bundle: false, baseUrl: false },
    // Every operation needs the same key: the runtime sends it.
    { name: '@hey-api/sdk', client: false, auth: false },
  ],
});
