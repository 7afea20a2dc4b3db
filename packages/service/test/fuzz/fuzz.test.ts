/**
 * Requests that the documents generate, valid ones and ones that are wrong at one place, sent to a sandbox with its sample data. No response
 * is a server error, and each one is as its document describes it. FUZZ_RUNS sets the number of requests for each operation.
 */
import type { Operation } from '@reseller/contract';
import specification from '@reseller/openapi/openapi.json' with { type: 'json' };
import operatorDocument from '@reseller/openapi/operator.json' with { type: 'json' };
import whole from '@reseller/openapi/service.json' with { type: 'json' };
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { amountOf, isDeep } from '../../../../.config/depth.ts';
import { DEMO_ACCOUNT, issueApiKey } from '../../src/index.ts';
import { sampleIdentifiers } from '../../src/sandbox/sample-identifiers.ts';
import { PERSON } from '../domains.ts';
import { describedApi, overSocket } from '../http-client.ts';
import type { HttpRequest } from '../http-client.ts';
import { OPERATOR_TOKEN, startOperator } from '../operator.ts';
import type { TestOperator } from '../operator.ts';
import { hostile, valuesOf } from './values.ts';
import type { Values } from './values.ts';

/** Requests for each operation. */
const RUNS = amountOf('FUZZ_RUNS', { usual: 3, deep: 60 });

interface Bundle {
  readonly name: string;
  readonly document: unknown;
  readonly hasExtension: boolean;
}

const bundles: readonly Bundle[] = [
  { name: 'specification', document: specification, hasExtension: false },
  { name: 'specification with the extension', document: whole, hasExtension: true },
  { name: 'operator', document: operatorDocument, hasExtension: true },
];

const FORM = 'application/x-www-form-urlencoded';

interface Sent {
  readonly path: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Something that is right most of the time. */
function mostly<T>(right: fc.Arbitrary<T>, wrong: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 4, arbitrary: right }, { weight: 1, arbitrary: wrong });
}

const hostileText = hostile.map((value) => textOf(value));

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.toWellFormed();
}

/** The requests of an operation. */
function requestsOf(document: unknown, operation: Operation, values: Values): fc.Arbitrary<Sent> {
  const { parameters } = operation;
  const raw = rawOperation(document, operation);
  const inPlace = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const shown = (name: string) => parameters.find((parameter) => parameter.name === name)?.examples.map(String) ?? [];
  const path = fc.record(
    Object.fromEntries(
      inPlace('path').map(({ name }) => {
        const examples = shown(name);
        const other = hostileText.map((text) => text.slice(0, 200) || 'x');
        return [name, examples.length > 0 ? mostly(fc.constantFrom(...examples), other) : other];
      }),
    ),
  );
  const query = fc.array(
    fc.oneof(
      ...inPlace('query').map(({ name }) =>
        fc.tuple(
          fc.constant(name),
          mostly(
            fc.constantFrom(...shown(name), '1', 'true'),
            hostileText.map((text) => text.slice(0, 300)),
          ),
        ),
      ),
      {
        weight: 1,
        arbitrary: fc.tuple(
          fc.constantFrom('not_a_parameter', '__proto__'),
          hostileText.map((text) => text.slice(0, 50)),
        ),
      },
    ),
    { maxLength: 2 },
  );
  const headers = fc.record(
    {
      'idempotency-key': fc.oneof(
        fc.uuid(),
        fc.string({ maxLength: 300 }).map((text) => text.replaceAll(/[^ -~]/g, '')),
      ),
    },
    { requiredKeys: [] },
  );
  return fc.record({ path, query: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, query), headers, body: bodies(raw, values) });
}

/** Bodies as texts of the media type that the operation takes. */
function bodies(raw: unknown, values: Values): fc.Arbitrary<string | undefined> {
  const content = Object(Object(raw).requestBody).content;
  if (content === undefined) return fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, hostileText);
  const isForm = FORM in content;
  const { schema, examples } = Object(Object.values(content)[0]);
  const written = (value: unknown) => (isForm ? formText(value) : textOf(value));
  const named = Object.values(Object(examples)).map((example) => Object(example).value);
  const cut = fc.tuple(values.valid(schema), fc.nat()).map(([value, at]) => written(value).slice(0, at % 60));
  const twice = values
    .valid(schema)
    .map((value) => (isForm ? `${written(value)}&${written(value)}` : `${written(value)}${written(value)}`));
  return fc.oneof(
    { weight: 4, arbitrary: values.valid(schema).map(written) },
    { weight: 4, arbitrary: values.spoilt(schema).map(written) },
    ...(named.length > 0 ? [{ weight: 3, arbitrary: fc.constantFrom(...named).map(written) }] : []),
    { weight: 1, arbitrary: fc.oneof(cut, twice, hostileText, fc.constant(undefined)) },
  );
}

function formText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return textOf(value);
  return Object.entries(value)
    .map(([name, member]) => `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(textOf(member))}`)
    .join('&');
}

/** The operation as the document writes it, with its reference to a shared request body resolved. */
function rawOperation(document: unknown, { path, method }: Operation): unknown {
  const raw = Object(Object(Object(document).paths)[path])[method.toLowerCase()];
  const reference: unknown = Object(raw?.requestBody).$ref;
  return typeof reference === 'string' ? { ...raw, requestBody: lookUp(document, reference) } : raw;
}

function lookUp(document: unknown, reference: string): unknown {
  return reference
    .split('/')
    .slice(1)
    .reduce<unknown>((value, name) => Object(value)[name], document);
}

interface Target {
  send(operation: Operation, sent: Sent): ReturnType<ReturnType<typeof overSocket>>;
}

async function targetOf({ name, hasExtension }: Bundle): Promise<Target> {
  const service = await startOperator({ extension: hasExtension, hasDemo: true });
  // The registrar of the tests remembers domains; that of a sandbox does not need to.
  const registered = await service.store.read((db) => db.selectFrom('domains').select('name').execute());
  const contact = { ...PERSON, handle: sampleIdentifiers.handle, organisation: null, phone: null };
  for (const domain of registered)
    service.registrar.domains.set(domain.name, {
      contact,
      nameservers: [],
      authcode: null,
      renewed: true,
      transferLock: false,
      dsRecords: [],
    });
  // So does the hypervisor with backups.
  const backups = await service.store.read((db) => db.selectFrom('vm_backups').selectAll().execute());
  for (const { id, vm_id: vmId, os, hostname, ssh_key: sshKey } of backups)
    service.hypervisor.copies.set(vmId, new Map([[id, { os, hostname, sshKey, password: '' }]]));
  const isOperator = name === 'operator';
  const transport = overSocket(isOperator ? service.operatorUrl : service.baseUrl);
  const credential = isOperator ? { authorization: `Bearer ${OPERATOR_TOKEN}` } : { 'x-service-apikey': await demoKey(service) };
  return {
    send: (operation, sent) => transport(toRequest(operation, sent, credential, isOperator ? 'application/json' : FORM)),
  };
}

function demoKey({ store, ports }: TestOperator): Promise<string> {
  return store.commit(({ db }) => issueApiKey(db, ports, DEMO_ACCOUNT, { label: 'fuzz', mode: 'sandbox' }));
}

/** `.` and `..` cannot be sent: a URL drops them, encoded or not. */
function segmentOf(value: string): string {
  return value === '.' || value === '..' ? 'x' : encodeURIComponent(value);
}

function toRequest(
  { method, path }: Operation,
  sent: Sent,
  credential: Readonly<Record<string, string>>,
  contentType: string,
): HttpRequest {
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segmentOf(sent.path[name] ?? 'x'));
  const search = new URLSearchParams(sent.query.map(([name, value]): [string, string] => [name, value])).toString();
  const hasBody = sent.body !== undefined && method !== 'GET';
  return {
    method,
    url: search === '' ? url : `${url}?${search}`,
    headers: { ...credential, ...sent.headers, ...(hasBody && { 'content-type': contentType }) },
    body: hasBody ? sent.body : undefined,
  };
}

describe.each(bundles)('the $name', (bundle) => {
  test('has no server error and no response that it does not describe', async () => {
    const { document } = bundle;
    const api = describedApi(document);
    const values = valuesOf(document);
    const target = await targetOf(bundle);
    const statuses = new Map<number, number>();
    const accepted = new Set<string>();
    for (const operation of api.operations) {
      await fc.assert(
        fc.asyncProperty(requestsOf(document, operation, values), async (sent) => {
          const response = await target.send(operation, sent);
          const { status } = response;
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (status < 300) accepted.add(operation.id);
          if (status >= 500) throw new Error(`${operation.id} returned ${status}: ${response.text}`);
          api.check(operation, response);
        }),
        { numRuns: RUNS },
      );
    }
    // A fuzz whose requests are all refused at the door would pass, too. Three random requests find a right one for about half the
    // operations; a third is far enough below that.
    expect([...statuses.keys()], 'a request that is right, and one that breaks a rule').toEqual(expect.arrayContaining([200, 422]));
    expect(accepted.size, `operations that accepted a request, of ${api.operations.length}`).toBeGreaterThan(api.operations.length / 3);
    if (isDeep)
      process.stdout
        .write(`${bundle.name}: ${accepted.size} of ${api.operations.length} operations accepted a request; ${JSON.stringify([...statuses])}
`);
  });
});
