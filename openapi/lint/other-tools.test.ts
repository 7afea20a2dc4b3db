import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { findingsOfOtherTools } from './other-tools.ts';

const bundle = readFileSync(new URL('../generated/openapi.json', import.meta.url), 'utf8');

/** A document without findings, small because the tools take seconds for the bundle. */
const small = {
  openapi: '3.1.0',
  info: {
    title: 'Small',
    version: '1.0.0',
    description: 'A small document.',
    contact: { name: 'Support', url: 'https://support.reseller.invalid' },
  },
  servers: [{ url: 'https://api.reseller.invalid', description: 'Live' }],
  tags: [{ name: 'Thing', description: 'Things.' }],
  paths: {
    '/thing': {
      get: {
        operationId: 'getThing',
        tags: ['Thing'],
        summary: 'Get the thing',
        description: 'Returns the thing.',
        responses: {
          200: {
            description: 'The thing.',
            content: { 'application/json': { schema: { type: 'string', pattern: '^[^\\x00-\\x1f]+$' }, example: 'web1' } },
          },
        },
      },
    },
  },
};

it.each([
  ['the bundle', bundle],
  ['a small document', JSON.stringify(small)],
])('reports nothing for %s', async (_, json) => expect(await findingsOfOtherTools(json)).toEqual([]));

it('swagger-parser refuses a server address that is a variable', async () => {
  const changed = {
    ...small,
    servers: [{ url: '{base_url}', variables: { base_url: { default: 'https://api.reseller.invalid', description: 'Base.' } } }],
  };
  expect(await findingsOfOtherTools(JSON.stringify(changed))).toEqual([expect.stringMatching(/^swagger-parser: .*unevaluated/s)]);
});

it('Spectral refuses a pattern with a Unicode property', async () => {
  const json = JSON.stringify(small);
  const changed = json.replace(String.raw`^[^\\x00-\\x1f]+$`, String.raw`^\\P{Cc}+$`);
  expect(changed).not.toBe(json);
  expect((await findingsOfOtherTools(changed))[0]).toContain('oas3-valid-media-example');
});
