import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  input: '../../openapi/generated/operator.json',
  logs: { file: false },
  output: {
    // `generate:check` generates into another directory and compares.
    path: process.env['GENERATE_INTO'] ?? 'src/generated',
    entryFile: false,
    module: { extension: '.ts' },
  },
  plugins: [
    '@hey-api/typescript',
    // The console has the origin of the operator API, and its session is a cookie.
    { name: '@hey-api/client-fetch', baseUrl: false },
    { name: '@hey-api/sdk', auth: false },
    { name: '@tanstack/react-query', mutationOptions: false, queryKeys: { tags: false } },
  ],
});
