/** The statuses that every operation of the operator API can respond with. */
import document from '@reseller/openapi/operator.json' with { type: 'json' };
import * as operator from '@reseller/operator-client';
import { sql } from 'kysely';
import { expect, test } from 'vitest';

import { startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { seededPlace } from '../../../test/prepared-store.ts';
import { wayTo } from '../../../test/tcp-proxy.ts';
import { operatorApi } from './api.ts';
import type { OperatorApi } from './api.ts';

/** Well-formed identifiers of things that do not exist. */
const nothing: Readonly<Record<string, string>> = {
  hostsystem: 'nobody_made_this',
  os: 'nobody_made_this',
  ip_pool_id: 'nobody_made_this',
  snapshot: 'nobody-made-this',
  tld: 'example',
  valid_from: '2100-01-01T00:00:00.000Z',
  vm_id: '99999',
  domain: 'nobody-has-this.net',
  invoice_id: 'nobody-has-this',
  number: '1',
  table: 'payments',
};
const NO_ID = '01900000-0000-7000-8000-00000000ffff';
const JSON_TYPE = { 'content-type': 'application/json' };

const withBody = operatorApi.filter(({ checkBody }) => checkBody);
const operationsWithStatus = (status: number) => operatorApi.filter(({ operation }) => String(status) in operation.responses);

function pathOf({ operation }: OperatorApi): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => nothing[name] ?? NO_ID);
}

function requiredQueryOf({ operation }: OperatorApi): string {
  const required = operation.parameters.filter((parameter) => parameter.in === 'query' && parameter.required);
  const examples = required.map(({ name, examples: [first] }): [string, string] => [name, String(first)]);
  return examples.length === 0 ? '' : `?${new URLSearchParams(examples).toString()}`;
}

/** The request of the document's example for a thing that does not exist. */
function exampleOf(api: OperatorApi): RequestInit {
  const { method, pointer } = api.operation;
  if (!api.checkBody) return { method };
  const example = Object.values(Object(at(`${pointer}/requestBody/content/application~1json/examples`))).at(-1);
  return { method, headers: JSON_TYPE, body: JSON.stringify(Object(resolve(example)).value) };
}

function at(pointer: string): unknown {
  const tokens = pointer.split('/').slice(1);
  return tokens.reduce<unknown>((value, token) => resolve(Object(value)[token.replaceAll('~1', '/').replaceAll('~0', '~')]), document);
}

function resolve(value: unknown): unknown {
  const { $ref } = Object(value);
  return typeof $ref === 'string' ? at($ref.slice(1)) : value;
}

const ask = (service: TestOperator, api: OperatorApi, init: RequestInit = exampleOf(api), query = requiredQueryOf(api)) =>
  service.operate(pathOf(api) + query, { method: api.operation.method, ...init });

/** The responses that have another status than expected or are not a problem. */
async function others(
  apis: readonly OperatorApi[],
  status: number,
  request: (api: OperatorApi) => ReturnType<typeof ask>,
): Promise<string[]> {
  const odd: string[] = [];
  for (const api of apis) {
    const { status: given, body } = await request(api);
    const { status: told, title, detail } = Object(body);
    const isProblem = told === status && typeof title === 'string' && typeof detail === 'string';
    if (given !== status || !isProblem) odd.push(`${api.id} ${given} ${JSON.stringify(body)}`);
  }
  return odd;
}

test('responds with 400 to an unknown parameter, in every operation', async () => {
  const service = await startOperator();
  expect(await others(operatorApi, 400, (api) => ask(service, api, exampleOf(api), '?nobody_knows_this=1'))).toEqual([]);
});

test('responds with 401 to an unknown token and with 429 after many, in every operation', async () => {
  const service = await startOperator();
  const guess = (api: OperatorApi) => ask(service, api, { headers: { authorization: 'Bearer guess' } });
  expect(await others(operatorApi, 401, (api) => ask(service, api, { headers: { authorization: '' } }))).toEqual([]);
  for (let guesses = 0; guesses < 20; guesses++) await service.operate('/accounts', { headers: { authorization: 'Bearer guess' } });
  expect(await others(operatorApi, 429, guess)).toEqual([]);
});

test('responds with 403 to a third party, except in the verification of codes', async () => {
  const service = await startOperator();
  const { token } = await operator.registerVerifier({ client: service.client, body: { name: 'Panel' } });
  const forTeam = operationsWithStatus(403).filter(({ forVerifiers }) => !forVerifiers);
  expect(await others(forTeam, 403, (api) => ask(service, api, { headers: { authorization: `Bearer ${token}` } }))).toEqual([]);
});

test('responds with 404 to an unknown identifier, in every operation that describes it', async () => {
  const service = await startOperator();
  expect(await others(operationsWithStatus(404), 404, (api) => ask(service, api))).toEqual([]);
});

test('responds with 412 to the version of another state, in every operation that describes it', async () => {
  const service = await startOperator();
  const { id } = await service.account();
  const { items } = await operator.listApiKeys({ client: service.client, path: { account_id: id } });
  const versioned = operationsWithStatus(412);
  expect(versioned.length).toBeGreaterThan(12);
  for (const api of versioned) {
    const { status, body } = await service.operate(
      pathOf(api)
        .replace(/\/accounts\/[^/]+/, `/accounts/${id}`)
        .replace(/\/api-keys\/[^/]+/, `/api-keys/${items[0]?.id}`),
      {
        method: api.operation.method,
        ...exampleOf(api),
        headers: { ...JSON_TYPE, 'if-match': '"another"' },
      },
    );
    expect.soft([api.id, status, body.type]).toEqual([api.id, 412, 'https://operator.reseller.invalid/problems/precondition-failed']);
  }
});

test('responds with 413, 415 and 422 to invalid bodies, in every operation with a body', async () => {
  const service = await startOperator();
  expect(await others(withBody, 413, (api) => ask(service, api, { headers: JSON_TYPE, body: 'x'.repeat(65_537) }))).toEqual([]);
  expect(await others(withBody, 415, (api) => ask(service, api, { headers: { 'content-type': 'text/plain' }, body: '{}' }))).toEqual([]);
  expect(await others(withBody, 422, (api) => ask(service, api, { headers: JSON_TYPE, body: '{"nobody_knows_this":1}' }))).toEqual([]);
});

test('responds with 500 without details if the service fails, in every operation', async () => {
  const service = await startOperator();
  const tables = await service.store.read(async (db) => (await db.introspection.getTables()).map(({ name }) => name));
  await service.store.commit(async ({ db }) => {
    for (const table of tables) await sql`alter table ${sql.table(table)} rename to ${sql.table(`${table}_away`)}`.execute(db);
  });
  expect(
    await others(operatorApi, 500, async (api) => {
      const response = await ask(service, api);
      expect.soft(JSON.stringify(response.body), api.id).not.toMatch(/sql|no such|_away/i);
      return response;
    }),
  ).toEqual([]);
});

test('responds with 503 and Retry-After while the database is unavailable, in every operation', { tags: 'outer' }, async () => {
  const way = await wayTo(await seededPlace('postgres'));
  const service = await startOperator({ databaseUrl: way.url });
  await way.cut();
  expect(
    await others(operatorApi, 503, async (api) => {
      const response = await ask(service, api);
      expect.soft(response.headers.get('retry-after'), api.id).toMatch(/^[1-9]\d*$/);
      return response;
    }),
  ).toEqual([]);
});
