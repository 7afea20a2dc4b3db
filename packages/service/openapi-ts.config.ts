import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  input: '../../openapi/dist/openapi.json',
  logs: { file: false },
  output: {
    // The check of what is committed generates beside it.
    path: process.env['GENERATE_INTO'] ?? 'src/generated',
    module: { extension: '.ts' },
  },
  plugins: [{ name: '@hey-api/typescript', responses: { response: '{{name}}Success' } }, { name: 'fastify' }],
});
