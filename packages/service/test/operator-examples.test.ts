/** The examples of the operator document, sent to a sandbox with its sample data as a reader who copies them does. */
import document from '@reseller/openapi/operator.json' with { type: 'json' };
import { expect, test } from 'vitest';

import { operatorApi } from '../src/http/operator/api.ts';
import type { OperatorApi } from '../src/http/operator/api.ts';
import { seedDemoAccount } from '../src/index.ts';
import { sampleIdentifiers } from '../src/sandbox/sample-identifiers.ts';
import { SECRET } from './harness.ts';
import { startOperator } from './operator.ts';
import type { TestOperator } from './operator.ts';

type Values = Readonly<Record<string, string>>;

async function startSandbox(): Promise<TestOperator> {
  const sandbox = await startOperator();
  await seedDemoAccount(sandbox.store, { ports: sandbox.ports, secret: SECRET });
  // The registrar of the tests remembers domains; that of a sandbox does not need to.
  sandbox.registrar.domains.set(sampleIdentifiers.domain, {
    contact: await contact(sandbox),
    nameservers: [],
    authcode: null,
    renewed: true,
  });
  return sandbox;
}

async function contact({ store }: TestOperator) {
  const {
    account_id: _account,
    created: _created,
    type: _type,
    fax: _fax,
    id,
    ...person
  } = await store.read((db) => db.selectFrom('handles').selectAll().where('id', '=', sampleIdentifiers.handle).executeTakeFirstOrThrow());
  return { handle: id, ...person };
}

function at(pointer: string): unknown {
  const tokens = pointer.split('/').slice(1);
  return tokens.reduce<unknown>((value, token) => resolved(Object(value)[token.replaceAll('~1', '/').replaceAll('~0', '~')]), document);
}

function resolved(value: unknown): unknown {
  const { $ref } = Object(value);
  return typeof $ref === 'string' ? at($ref.slice(1)) : value;
}

/** The values of named examples, by name. */
function examplesAt(pointer: string): [string, unknown][] {
  return Object.entries(Object(at(`${pointer}/examples`))).map(([name, example]) => [name, Object(resolved(example)).value]);
}

function examplesOf({ operation }: OperatorApi, place: 'path' | 'query'): Values {
  const parameters = operation.parameters.filter((parameter) => parameter.in === place && parameter.examples.length > 0);
  return Object.fromEntries(parameters.map(({ name, examples: [example] }) => [name, String(example)]));
}

const bodiesOf = ({ operation }: OperatorApi) => examplesAt(`${operation.pointer}/requestBody/content/application~1json`);

const named = (id: string): OperatorApi => {
  const found = operatorApi.find((api) => api.id === id);
  if (!found) throw new Error(`The document has no operation ${id}.`);
  return found;
};

function send(sandbox: TestOperator, api: OperatorApi, { path = {}, query = {}, body }: { path?: Values; query?: Values; body?: unknown }) {
  const url = api.operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  const search = new URLSearchParams(query).toString();
  return sandbox.operate(search === '' ? url : `${url}?${search}`, {
    method: api.operation.method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
}

/** What a sandbox only has once an operation has made it: the operation, and where its answer says what the path names. */
const MADE_BY: Readonly<Record<string, readonly [string, (answer: unknown) => Values]>> = {
  removeFault: ['createFault', (answer) => ({ fault_id: Object(answer).id })],
  deleteSnapshot: ['createSnapshot', (answer) => ({ snapshot: Object(answer).name })],
  restoreSnapshot: ['createSnapshot', (answer) => ({ snapshot: Object(answer).name })],
  deleteIsolatedAccount: ['createIsolatedAccount', (answer) => ({ account_id: Object(answer).account.id })],
};

/** What the operation needs besides the sample data. */
const BEFORE: Readonly<Record<string, (sandbox: TestOperator) => Promise<unknown>>> = {
  startVm: (sandbox) => send(sandbox, named('stopVm'), { path: examplesOf(named('stopVm'), 'path') }),
};

async function pathFor(sandbox: TestOperator, api: OperatorApi): Promise<Values> {
  await BEFORE[api.id]?.(sandbox);
  const [maker, read] = MADE_BY[api.id] ?? [];
  if (maker === undefined || read === undefined) return examplesOf(api, 'path');
  const made = await send(sandbox, named(maker), { path: examplesOf(named(maker), 'path'), body: bodiesOf(named(maker))[0]?.[1] });
  return read(made.body);
}

/** Only a code that the test sandbox generated is good, and none can be known beforehand. */
const requests = operatorApi
  .filter(({ id }) => id !== 'verifyOtp')
  .flatMap((api): [string, string, OperatorApi, unknown][] => {
    const bodies = bodiesOf(api);
    return bodies.length === 0 ? [[api.id, 'without a body', api, undefined]] : bodies.map(([name, body]) => [api.id, name, api, body]);
  });

test.for(requests)('%s: the example request %s succeeds in a new sandbox', async ([, , api, body]) => {
  const sandbox = await startSandbox();
  const answer = await send(sandbox, api, { path: await pathFor(sandbox, api), query: examplesOf(api, 'query'), body });
  expect({ body: answer.body, status: answer.status }).toMatchObject({ status: api.status });
});

const cursors = operatorApi.flatMap((api): [string, string, OperatorApi, string][] =>
  examplesAt(`${api.operation.pointer}/responses/200/content/application~1json`).flatMap(([name, value]) => {
    const cursor: unknown = Object(value).next_cursor;
    return typeof cursor === 'string' ? [[api.id, name, api, cursor]] : [];
  }),
);

test('some example pages have a next one', () => expect(cursors.length).toBeGreaterThan(1));

test.for(cursors)('%s takes the cursor of its example %s', async ([, , api, cursor]) => {
  const sandbox = await startSandbox();
  expect(await send(sandbox, api, { path: examplesOf(api, 'path'), query: { cursor } })).toMatchObject({ status: 200 });
});
