/** The examples of the operator document, sent to a sandbox with its sample data as a reader who copies them does. */
import { parseDocument, secretNames } from '@reseller/contract';
import document from '@reseller/openapi/operator.json' with { type: 'json' };
import { expect, test } from 'vitest';

import { operatorApi } from '../src/http/operator/api.ts';
import type { OperatorApi } from '../src/http/operator/api.ts';
import { sampleIdentifiers } from '../src/sandbox/sample-identifiers.ts';
import { at, bodiesOf, demoAccount, examplesAt, examplesOf, pathFor, send, sendExample, startSandbox } from './operator-samples.ts';
import type { Values } from './operator-samples.ts';
import type { TestOperator } from './operator.ts';

type ExampleRequest = readonly [id: string, name: string, api: OperatorApi, body: unknown];

/** Only a code that the sandbox of the test has generated is valid, and it cannot be known in advance. */
const requests = operatorApi
  .filter(({ id }) => id !== 'verifyOtp')
  .flatMap((api): ExampleRequest[] => {
    const bodies = bodiesOf(api);
    return bodies.length === 0 ? [[api.id, 'without a body', api, undefined]] : bodies.map(([name, body]) => [api.id, name, api, body]);
  });

const isRead = ([, , { operation }]: ExampleRequest): boolean => operation.readOnly;

test.for(requests.filter((one) => !isRead(one)))('%s: the example request %s succeeds in a new sandbox', async (request) => {
  expect(await effectOf(await startSandbox(), request)).toEqual(success(request));
});

test('the example requests that only read succeed in a new sandbox', async () => {
  const sandbox = await startSandbox();
  for (const request of requests.filter(isRead)) expect.soft(await effectOf(sandbox, request), request[0]).toEqual(success(request));
});

/** Sends a request, and returns its status, its problem, its records in the audit, and the secrets in these records. */
async function effectOf(sandbox: TestOperator, [, , api, body]: ExampleRequest): Promise<unknown> {
  const path = await pathFor(sandbox, api);
  const before = await auditOf(sandbox);
  const response = await send(sandbox, api, { path, query: examplesOf(api, 'query'), body });
  const added = (await auditOf(sandbox)).filter(({ id }) => before.every((record) => record.id !== id));
  return {
    status: response.status,
    problem: response.status < 400 ? undefined : response.body,
    audit: added.map(({ operation, actor, address }) => ({ operation, actor, address })),
    secretsInAudit: [...secretsIn(response.body), ...secretsIn(body)].filter((secret) => JSON.stringify(added).includes(secret)),
  };
}

/** Reads of personal data, which leave a record. */
const RECORDED_READS = new Set(['exportAccount', 'listAccountRequests', 'getAccountRequest']);

function success([id, , { status, operation }]: ExampleRequest): unknown {
  const audit = operation.readOnly && !RECORDED_READS.has(id) ? [] : [{ operation: id, actor: 'operator', address: '127.0.0.1' }];
  return { status, problem: undefined, audit, secretsInAudit: [] };
}

function auditOf({ store }: TestOperator) {
  return store.read((db) => db.selectFrom('audit_records').selectAll().execute());
}

const SECRETS = secretNames(parseDocument(document));

/** The values of the properties that the document marks as secret. */
function secretsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => (SECRETS.has(name) && typeof item === 'string' ? [item] : secretsIn(item)));
}

const cursors = operatorApi.flatMap((api): [string, string, OperatorApi, string][] =>
  examplesAt(`${api.operation.pointer}/responses/200/content/application~1json`).flatMap(([name, value]) => {
    const cursor: unknown = Object(value).next_cursor;
    return typeof cursor === 'string' ? [[api.id, name, api, cursor]] : [];
  }),
);

test('some example pages have a next one', () => expect(cursors.length).toBeGreaterThan(1));

test('each operation takes the cursor of its example', async () => {
  const sandbox = await startSandbox();
  for (const [id, name, api, cursor] of cursors) {
    expect(await send(sandbox, api, { path: examplesOf(api, 'path'), query: { cursor } }), `${id}: ${name}`).toMatchObject({ status: 200 });
  }
});

/** What provokes an error example: a change of the operation's first example request, after some preparation. */
interface Cause {
  readonly body?: (body: Record<string, unknown>) => unknown;
  readonly before?: (sandbox: TestOperator) => Promise<unknown>;
  readonly path?: Values;
}

const put = (changes: Readonly<Record<string, unknown>>): Cause => ({ body: (body) => ({ ...body, ...changes }) });

const withoutCredit = (sandbox: TestOperator) =>
  sandbox.store.commit(({ db }) => db.updateTable('accounts').set({ credit_limit: 0 }).where('id', '=', demoAccount).execute());

async function firstNode({ store }: TestOperator): Promise<string> {
  const { node } = await store.read((db) =>
    db.selectFrom('vms').select('node').where('id', '=', Number(sampleIdentifiers.vm)).executeTakeFirstOrThrow(),
  );
  return node;
}

const CAUSES: Readonly<Record<string, Cause>> = {
  'createAccount creditNotDecimal': put({ credit_limit: 'a lot' }),
  'setCreditLimit negative': put({ credit_limit: '-1.00' }),
  'setQuotas negative': put({ vms: -1 }),
  'suspendAccount blank': put({ reason: ' ' }),
  'setBillingProfile noVatId': put({ vat_id: null }),
  'setBillingProfile otherCountry': put({ vat_id: 'DE123456789' }),
  'setBillingProfile atHome': put({ country: 'DE', vat_id: 'DE123456789' }),
  'setBillingProfile invoiced': put({ valid_from: '2020-01-01' }),
  'createCreditNote zero': put({ amount: '0.00' }),
  'recordPayment zero': put({ amount: '0.00' }),
  'recordRefund zero': put({ amount: '0.00' }),
  'reversePayment blank': put({ reason: ' ' }),
  'setSeller noImage': put({ logo: 'bm8gaW1hZ2U=' }),
  'setSeller wrongIban': put({ iban: 'DE03120300000000202051' }),
  'setDocumentSeries samePrefix': put({ credit_notes: { prefix: 'INV-2027-', next_number: 1, digits: 5 } }),
  'issueApiKey blank': put({ label: ' ' }),
  'rotateApiKey tooLong': put({ overlap_seconds: 2_592_001 }),
  'setApiKeyRestrictions noNetwork': put({ valid_until: null, allowed_networks: ['example.net'], spending_limit: null }),
  'setDefaultQuotas negative': put({ default_quotas: { vms: -1, handles: null } }),
  'setApiKeyRateLimit noRequests': put({ rate_limit: { requests: 0, seconds: 60 } }),
  'createOperatorToken unknownScope': put({ scopes: ['everything'] }),
  'createOperatorToken expired': put({ valid_until: '2020-01-01T00:00:00Z' }),
  'rotateOperatorToken tooLong': put({ overlap_seconds: 2_592_001 }),
  'defineHostSystem maxBelowMin': {
    body: (body) => ({ ...body, ranges: { ...Object(body['ranges']), cores: { ...Object(body['ranges']).cores, min: 1, max: 0 } } }),
  },
  'defineHostSystem nodeInUse': {
    path: { hostsystem: 'nl_ryzen' },
    body: (body) => ({ ...body, nodes: Object(body['nodes']).map((node: object, index: number) => ({ ...node, name: `other-${index}` })) }),
  },
  'scheduleHostSystemPrices sameInstant': { before: (sandbox) => sendExample(sandbox, 'scheduleHostSystemPrices') },
  'scheduleHostSystemPrices inThePast': put({ valid_from: '2001-01-01T00:00:00Z' }),
  'withdrawHostSystemPrices inForce': { path: { valid_from: '1970-01-01T00:00:00.000Z' } },
  'defineOsImage unusableUser': put({ username: 'not a user' }),
  'defineIpPool overlapping': { before: (sandbox) => sendExample(sandbox, 'defineIpPool'), path: { ip_pool_id: 'another-pool' } },
  'defineIpPool unknownAccount': put({ account_id: '00000000-0000-4000-8000-000000000000' }),
  'createSale stopBeforeStart': put({ start_date: '2030-01-02T00:00:00Z', stop_date: '2030-01-01T00:00:00Z' }),
  'createSale unknownHostSystem': {
    body: (body) => ({ ...body, pricings: { nl_epyc: Object.values(Object(body['pricings']))[0] } }),
  },
  'addMarketItem noDisks': put({ disks: [] }),
  'orderDedicatedServer sold': { before: (sandbox) => sendExample(sandbox, 'orderDedicatedServer') },
  'orderDedicatedServer noCredit': { before: withoutCredit },
  'orderDedicatedServer unknownOffer': put({ market_id: '00000000-0000-4000-8000-000000000000' }),
  'completeDedicatedSetup badAddress': put({ ipv4: [{ address: 'somewhere', gateway: '198.51.100.1' }] }),
  'startVm wasRemoved': { before: (sandbox) => sendExample(sandbox, 'removeVm') },
  'startVm noCredit': {
    async before(sandbox) {
      await sendExample(sandbox, 'stopVm');
      await withoutCredit(sandbox);
    },
  },
  'resizeVm noRoom': {
    async before(sandbox) {
      const name = await firstNode(sandbox);
      await sandbox.store.commit(({ db }) =>
        db
          .updateTable('host_nodes')
          .set(({ eb }) => ({ used_cores: eb('cores', '-', 2) }))
          .where('name', '=', name)
          .execute(),
      );
    },
    body: () => ({ cores: 6 }),
  },
  'resizeVm noCredit': { before: withoutCredit, body: () => ({ cores: 6 }) },
  'resizeVm smallerDisk': { body: () => ({ disk: 10 }) },
  'quoteResizeVm wasRemoved': { before: (sandbox) => sendExample(sandbox, 'removeVm') },
  'quoteResizeVm smallerDisk': { body: () => ({ disk: 10 }) },
  'setVmAbuseStatus blank': put({ reason: ' ' }),
  'setVmRdns notFullyQualified': put({ domain: 'mail' }),
  'adoptVm unknownHostsystem': put({ hostsystem: 'nl_unknown' }),
  'setTldPrice notDecimal': put({ renew: 'cheap' }),
  'scheduleTldPrices sameInstant': { before: (sandbox) => sendExample(sandbox, 'scheduleTldPrices') },
  'scheduleTldPrices inThePast': put({ valid_from: '2001-01-01T00:00:00Z' }),
  'withdrawTldPrices inForce': { path: { valid_from: '1970-01-01T00:00:00.000Z' } },
  'verifyOtp invalid': {},
  'verifyOtp notDigits': put({ code: 'not digits' }),
  'registerVerifier blank': put({ name: ' ' }),
  'advanceClock back': { body: () => ({ to: '2001-01-01T00:00:00Z' }) },
  'advanceClock both': { body: () => ({ to: '2999-01-01T00:00:00Z', by_seconds: 60 }) },
  'createFault unknownOperation': put({ operations: ['buyEverything'] }),
  'createIsolatedAccount noName': { body: ({ name: _name, ...rest }) => rest },
  'deleteIsolatedAccount notIsolated': { path: { account_id: demoAccount } },
  'setDefaultRateLimit tooLong': put({ rate_limit: { requests: 100, seconds: 3_601 } }),
  'setVatRates noneInForce': put({ vat_rates: [{ basis_points: 1_900, valid_from: '2999-01-01' }] }),
  'setVatRates past': put({ vat_rates: [{ basis_points: 2_000, valid_from: '2021-01-01' }] }),
  'setSecondOperator noBoolean': put({ second_operator: 'yes' }),
  'setAuditRetention negative': put({ audit_retention_months: -1 }),
  'setRequestLogRetention negative': put({ request_log_retention: { months: -1, bytes_per_account: null } }),
  'setVmIdentifierQuarantine tooShort': put({ vm_identifier_quarantine_days: 0 }),
};

/** verify.test.ts and second-operator.test.ts send what these take. */
const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set([
  'verifyOtp tooManyAttempts',
  'eraseAccount wrongState',
  'eraseAccount confirmationRequired',
]);
/** Tests of the statuses provoke the responses that operations share, for each operation. */
const isShared = ({ operation }: OperatorApi, status: string): boolean => '$ref' in Object(at(`${operation.pointer}/responses`))[status];

interface ExampleError {
  readonly id: string;
  readonly name: string;
  readonly api: OperatorApi;
  readonly status: number;
  readonly value: unknown;
}

const errors = operatorApi.flatMap((api) =>
  Object.keys(api.operation.responses)
    .filter((status) => !status.startsWith('2') && !isShared(api, status))
    .flatMap((status) =>
      examplesAt(`${api.operation.pointer}/responses/${status}/content/application~1problem+json`)
        .filter(([name]) => !SHOWN_ELSEWHERE.has(`${api.id} ${name}`))
        .map(([name, value]): ExampleError => ({ id: api.id, name, api, status: Number(status), value })),
    ),
);

const causeOf = ({ id, name }: ExampleError): Cause => {
  const cause = CAUSES[`${id} ${name}`];
  if (!cause) throw new Error(`Add what provokes the example ${name} of ${id} to CAUSES.`);
  return cause;
};
const needsPreparation = (error: ExampleError): boolean => causeOf(error).before !== undefined;

test.for(errors.filter(needsPreparation))('$id: the example error $name is reproduced', async (error) => {
  expect(await outcomeOf(await startSandbox(), error)).toEqual(documentedOutcome(error));
});

test('the example errors that need no preparation are reproduced in one sandbox, because a refused request changes nothing', async () => {
  const sandbox = await startSandbox();
  for (const error of errors.filter((one) => !needsPreparation(one))) {
    expect.soft(await outcomeOf(sandbox, error), `${error.id}: ${error.name}`).toEqual(documentedOutcome(error));
  }
});

/** Provokes an error, and returns its problem and the number of records that it adds to the audit. */
async function outcomeOf(sandbox: TestOperator, error: ExampleError): Promise<unknown> {
  const { api } = error;
  const cause = causeOf(error);
  const path = { ...(await pathFor(sandbox, api)), ...cause.path };
  await cause.before?.(sandbox);
  const request = Object(bodiesOf(api)[0]?.[1]);
  const body = cause.body ? cause.body(request) : bodiesOf(api)[0]?.[1];
  const before = (await auditOf(sandbox)).length;
  const response = await send(sandbox, api, { path, body });
  const records = (await auditOf(sandbox)).length - before;
  return { status: response.status, type: Object(response.body).type, pointers: pointersOf(response.body), records };
}

function documentedOutcome({ status, value }: ExampleError): unknown {
  return { status, type: Object(value).type, pointers: pointersOf(value), records: 0 };
}

function pointersOf(problem: unknown): unknown {
  return Object(problem).errors?.map(({ pointer }: { pointer: string }) => pointer);
}

test('every cause belongs to an example', () => {
  expect(Object.keys(CAUSES).toSorted()).toEqual(errors.map(({ id, name }) => `${id} ${name}`).toSorted());
});
