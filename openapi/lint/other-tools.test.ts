import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { findingsOfOtherTools } from './other-tools.ts';

const bundle = readFileSync(new URL('../dist/openapi.json', import.meta.url), 'utf8');

it('reports nothing for the bundle', async () => expect(await findingsOfOtherTools(bundle)).toEqual([]));

it('has swagger-parser refuse a server address that is a variable', async () => {
  const changed = {
    ...JSON.parse(bundle),
    servers: [{ url: '{base_url}', variables: { base_url: { default: 'https://api.reseller.invalid', description: 'Base.' } } }],
  };
  expect(await findingsOfOtherTools(JSON.stringify(changed))).toEqual([expect.stringMatching(/^swagger-parser: .*unevaluated/s)]);
});

it('has Spectral refuse a pattern with a Unicode property', async () => {
  const changed = bundle.replaceAll(String.raw`^[^\\x00-\\x1f\\x7f-\\x9f]+$`, String.raw`^\\P{Cc}+$`);
  expect(changed).not.toBe(bundle);
  expect((await findingsOfOtherTools(changed))[0]).toContain('oas3-valid-media-example');
});
