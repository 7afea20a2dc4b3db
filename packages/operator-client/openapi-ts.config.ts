import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  input: '../../openapi/dist/operator.json',
  logs: { file: false },
  output: {
    // The drift check generates into another folder, next to the committed files.
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
      // The response of a successful operation is named as in the reseller client.
      responses: { response: '{{name}}Success' },
    },
    { name: '@hey-api/client-fetch', bundle: false, baseUrl: false },
    { name: '@hey-api/sdk', client: false },
  ],
});
