import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  input: '../../openapi/dist/openapi.json',
  logs: { file: false },
  output: { path: 'src/generated', module: { extension: '.ts' } },
  plugins: [{ name: '@hey-api/typescript', responses: { response: '{{name}}Success' } }, { name: 'fastify' }],
});
