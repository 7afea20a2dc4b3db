/** The command for the API of someone else: its help and messages name nothing of ours. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { CHECKS } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

import { sendJson, startServer } from './raw-server.ts';
import type { RawServer } from './raw-server.ts';
import { command } from './run-command.ts';
import { temporaryFolder } from './workspace.ts';

const OURS = /sandbox|reseller|4010|createVm|getVm|registerDomain/i;
const responses = { 200: { description: 'A.' }, 401: { description: 'No.' } };
const secured = {
  openapi: '3.1.0',
  info: { title: 'Orders', version: '1' },
  security: [{ Key: [] }],
  paths: { '/orders': { get: { operationId: 'listOrders', responses } } },
  components: { securitySchemes: { Key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
};

async function fileOf(document: unknown): Promise<string> {
  const file = join(await temporaryFolder(), 'api.json');
  await writeFile(file, JSON.stringify(document));
  return file;
}

function start(key: string): Promise<RawServer> {
  return startServer(({ headers }, response) => sendJson(response, headers['x-key'] === key ? 200 : 401, {}));
}

describe('with the document of another API', () => {
  test('the key is CONTRACT_API_KEY, else the older RESELLER_API_KEY', async () => {
    const { url } = await start('the-right-key-of-the-test');
    const argv = ['--target', url.href, '--document', await fileOf(secured)];
    for (const environment of [
      { CONTRACT_API_KEY: 'the-right-key-of-the-test' },
      { RESELLER_API_KEY: 'the-right-key-of-the-test' },
      { CONTRACT_API_KEY: 'the-right-key-of-the-test', RESELLER_API_KEY: 'another' },
    ])
      expect(await command(argv, environment)).toMatchObject({ code: 0 });
  });

  test('messages name nothing of ours', async () => {
    const { url } = await start('the-right-key-of-the-test');
    const document = await fileOf(secured);
    const texts = [
      await command(['--target', url.href, '--document', document], {}),
      await command(['--target', url.href, '--document', document], { CONTRACT_API_KEY: 'a-wrong-key' }),
      await command(['--target', 'http://127.0.0.1:9', '--document', document], { CONTRACT_API_KEY: 'a-key' }),
    ];
    for (const { code, output } of texts) {
      expect(code).toBe(2);
      expect(output).not.toMatch(OURS);
    }
  });

  test('the help names ours only in its own part', async () => {
    const { output } = await command(['--help'], {});
    const parts = output.split('\n\n').filter((part) => !part.startsWith('Reseller API'));
    expect(parts.join('\n\n')).not.toMatch(OURS);
  });
});

test('reads a Swagger 2 document, and says so', async () => {
  const document = {
    swagger: '2.0',
    info: { title: 'Pets', version: '1' },
    basePath: '/v1',
    consumes: ['application/json'],
    produces: ['application/json'],
    paths: {
      '/pets': {
        get: {
          operationId: 'listPets',
          responses: { 200: { description: 'All.', schema: { type: 'array', items: { $ref: '#/definitions/Pet' } } } },
        },
      },
    },
    definitions: { Pet: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } },
  };
  const { url } = await startServer((_, response) => sendJson(response, 200, [{ id: 'seven' }]));
  const { code, output } = await command(['--target', url.href, '--document', await fileOf(document)], {});
  expect(output).toContain('The document is Swagger 2.0; it was read as 3.1.');
  expect(output).toContain('violation  /*/id must be');
  expect(code).toBe(1);
});

test('ignores a reference in an extension, which nothing reads', async () => {
  const document = {
    ...secured,
    'x-policy': [{ $ref: '../policies.yaml' }],
    paths: { '/orders': { get: { operationId: 'listOrders', 'x-rules': { $ref: 'gone.yaml' }, responses } } },
  };
  const { url } = await start('the-right-key-of-the-test');
  const argv = ['--target', url.href, '--document', await fileOf(document)];
  expect(await command(argv, { CONTRACT_API_KEY: 'the-right-key-of-the-test' })).toMatchObject({ code: 0 });
});

describe('contract explain', () => {
  test('explains each check with an example', async () => {
    for (const { id, claim, example, judges, client } of CHECKS) {
      expect(example).toBeDefined();
      const { code, output } = await command(['explain', id], {});
      expect(code).toBe(0);
      for (const part of [claim, example, judges, client]) expect(output).toContain(part);
    }
  });

  test('lists all checks without a name, and names them for one that does not exist', async () => {
    expect((await command(['explain'], {})).output).toContain('property-type');
    expect(await command(['explain', 'nothing'], {})).toEqual({
      code: 2,
      output: expect.stringMatching(/^There is no check nothing\. The checks are body-complete,/),
    });
  });
});
