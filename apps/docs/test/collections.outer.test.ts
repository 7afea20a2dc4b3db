/** The collections, read by the programs that they are for, run against a sandbox. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { createClient } from '@reseller/operator-client';
import type { Client } from '@reseller/operator-client';
import { strFromU8, unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { byDepth } from '../../../.config/depth.ts';
import { REPOSITORY, startSandbox } from '../../../.config/sandbox.ts';
import type { Sandbox } from '../../../.config/sandbox.ts';
import { brunoCollection, postmanCollection } from '../src/collections.ts';
import { operationsOf, readDocument } from '../src/document.ts';
import type { OpenApi, PlacedOperation } from '../src/document.ts';
import { references } from '../src/references.ts';
import { siteDirectory } from '../src/site.ts';
import { FRESH, hasPrecondition, keepFresh, NEED_MACHINES, prepare, restoreFresh } from './preconditions.ts';

/** The tools of the tests are installed in their own folder. */
const tools = createRequire(join(REPOSITORY, '.config/package.json'));

interface Newman {
  run(
    options: { collection: unknown; envVar: { key: string; value: string }[] },
    done: (
      error: Error | null,
      summary: { run: { failures: unknown[]; executions: { item: { name: string }; response?: { code: number } }[] } },
    ) => void,
  ): void;
}
interface PostmanCollection {
  readonly item: readonly { readonly item: readonly { readonly name: string; readonly request: { readonly method: string } }[] }[];
}
interface BrunoRequest {
  readonly http: { readonly method: string; readonly url: string };
  readonly params?: readonly { readonly name: string; readonly value: string; readonly type: string }[];
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body?: { readonly json?: string; readonly formUrlEncoded?: readonly { readonly name: string; readonly value: string }[] };
}
const newman: Newman = tools('newman');
const { bruToJsonV2: readBru }: { bruToJsonV2(text: string): BrunoRequest } = tools('@usebruno/lang');

let sandbox: Sandbox;
let operator: Client;

beforeAll(async () => {
  sandbox = await startSandbox();
  operator = createClient({ baseUrl: sandbox.operatorUrl, token: sandbox.operatorToken });
  await keepFresh(sandbox, operator);
});

afterAll(() => sandbox?.stop());

// `samples.test.ts` sends the same requests for all references in each run.
describe.each(byDepth({ usual: references.slice(0, 1), deep: references }))('the collections of the $name API', (reference) => {
  test('each request of the Postman collection succeeds', async () => {
    const document = await readDocument(reference);
    const collection: PostmanCollection = JSON.parse(JSON.stringify(postmanCollection(document, reference)));
    const operations = sentOf(document).map((placed) => ({ ...placed, key: `${reference.name}.${placed.id}` }));
    const prepared = operations.filter(({ key }) => hasPrecondition(key));
    // The start of Newman takes much longer than a request, so all requests without a precondition share one.
    const others = operations.filter(({ key }) => !hasPrecondition(key));
    await restoreFresh(operator);
    const text = sandbox.withAddresses(JSON.stringify(withRestores(withOnly(others, collection))));
    const responses = await responsesOf(JSON.parse(text));
    expect.soft(responses.length).toBe(others.length + others.filter((placed) => !isRead(placed)).length);
    expect.soft(responses.filter(({ code }) => !isSuccess(code))).toEqual([]);
    for (const placed of prepared) {
      const own = await prepare(
        { operation: placed.key, method: placed.method },
        JSON.stringify(withOnly([placed], collection)),
        sandbox,
        operator,
      );
      expect
        .soft(await responsesOf(JSON.parse(own)), placed.id)
        .toEqual([{ name: placed.operation.summary, code: expect.toSatisfy(isSuccess) }]);
    }
  });

  test('each request of the Bruno collection succeeds', async () => {
    const document = await readDocument(reference);
    const files = brunoCollection(document, reference);
    for (const { id, method, operation } of sentOf(document)) {
      const file = files[`${operation.tags[0]}/${operation.summary}.bru`] ?? '';
      const text = await prepare({ operation: `${reference.name}.${id}`, method }, file, sandbox, operator);
      expect.soft(await sendBruno(readBru(text), reference.api), id).toSatisfy(isSuccess);
    }
    expect(files['environments/Sandbox.bru']).toContain('baseUrl: http://127.0.0.1:');
  });
});

/** The operations whose requests can succeed in a sandbox. */
const sentOf = (document: OpenApi) => operationsOf(document).filter(({ id }) => !NEED_MACHINES.has(id));

const isSuccess = (status: unknown): boolean => typeof status === 'number' && status >= 200 && status < 300;

const isRead = ({ method }: { readonly method: string }): boolean => method === 'GET';

/** The collection with the requests of some operations. */
function withOnly(operations: readonly PlacedOperation[], collection: PostmanCollection): PostmanCollection {
  const names = new Set(operations.map(({ operation }) => operation.summary));
  return { ...collection, item: collection.item.map((folder) => ({ ...folder, item: folder.item.filter(({ name }) => names.has(name)) })) };
}

/** The collection in which each change is followed by a request that restores the data of a fresh sandbox. */
function withRestores(collection: PostmanCollection): PostmanCollection {
  const restore = {
    name: 'Restore the sandbox',
    request: {
      method: 'POST',
      url: `${sandbox.operatorUrl}/sandbox/snapshots/${FRESH}/restore`,
      header: [{ key: 'Authorization', value: `Bearer ${sandbox.operatorToken}` }],
    },
  };
  return {
    ...collection,
    item: collection.item.map((folder) => ({
      ...folder,
      item: folder.item.flatMap((item) => (isRead(item.request) ? [item] : [item, restore])),
    })),
  };
}

interface ReceivedResponse {
  /** The name of the request. */
  readonly name: string;
  readonly code: number | undefined;
}

/** Runs a collection. */
function responsesOf(collection: unknown): Promise<ReceivedResponse[]> {
  const envVar = [
    { key: 'apiKey', value: sandbox.apiKey },
    { key: 'operatorToken', value: sandbox.operatorToken },
  ];
  return new Promise((resolve, reject) => {
    newman.run({ collection, envVar }, (error, summary) => {
      if (error) reject(error);
      else resolve(summary.run.executions.map(({ item, response }) => ({ name: item.name, code: response?.code })));
    });
  });
}

async function sendBruno({ http, params = [], headers, body }: BrunoRequest, api: 'reseller' | 'operator'): Promise<number> {
  const variables: Record<string, string> = {
    baseUrl: api === 'reseller' ? sandbox.baseUrl : sandbox.operatorUrl,
    apiKey: sandbox.apiKey,
    operatorToken: sandbox.operatorToken,
  };
  const filled = (text: string): string => text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => variables[name] ?? '');
  const url = params.reduce((address, { name, value }) => address.replace(`:${name}`, encodeURIComponent(value)), http.url);
  const sent =
    body?.json === undefined
      ? body?.formUrlEncoded === undefined
        ? undefined
        : new URLSearchParams(body.formUrlEncoded.map(({ name, value }) => [name, value]))
      : body.json;
  const sentHeaders = new Headers(headers.map(({ name, value }): [string, string] => [name, filled(value)]));
  if (typeof sent === 'string') sentHeaders.set('content-type', 'application/json');
  const response = await fetch(filled(url), {
    method: http.method.toUpperCase(),
    headers: sentHeaders,
    ...(sent === undefined ? {} : { body: sent }),
  });
  return response.status;
}

test.each(references)('the site has the Bruno collection of the $name API as an archive', async (reference) => {
  const { name } = reference;
  const document = await readDocument(reference);
  const archive = unzipSync(await readFile(join(siteDirectory, `collections/${name}.bruno.zip`)));
  const texts = Object.entries(archive).map(([path, content]) => [path, strFromU8(content)]);
  expect(Object.fromEntries(texts)).toEqual(brunoCollection(document, reference));
});
