import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  input: '../../openapi/dist/operator.json',
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
      // As in the reseller client: what an operation answers when it succeeds.
      responses: { response: '{{name}}Success' },
    },
    { name: '@hey-api/client-fetch', bundle: false, baseUrl: false },
    { name: '@hey-api/sdk', client: false },
  ],
});
