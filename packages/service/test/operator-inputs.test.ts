/**
 * Each field that an operator can send is in the response of an operation that reads, with its value. The fields come from the document, so that
 * a new one is covered or fails.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { operatorApi } from '../src/http/operator/api.ts';
import { sampleIdentifiers } from '../src/sandbox/sample-identifiers.ts';
import { SMALL_VM } from './harness.ts';
import { bodiesOf, demoAccount, named, pathFor, send, startSandbox } from './operator-samples.ts';
import type { Values } from './operator-samples.ts';
import { startOperator } from './operator.ts';

/** The file of the service that tests the effect of a field whose value no response has. */
interface TestedIn {
  readonly testedIn: string;
}

interface Shown {
  /** The operation whose response has the values, each under the name of its field. */
  readonly by: string;
  /** Values of its path, from the response to the change. Without them, the path is that of the change. */
  readonly path?: (made: Record<string, unknown>) => Values;
  /** Values of fields that the examples of the document leave out. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** Fields that have another name in the response, and those without a value there. */
  readonly fields?: Readonly<Record<string, string | TestedIn>>;
}

const ofDemoAccount = () => ({ account_id: demoAccount });
const withId =
  (name: string) =>
  ({ id }: Record<string, unknown>): Values => ({ [name]: String(id) });

const SETTINGS: Shown = { by: 'getSettings' };

/** The operation that shows the fields of each body. A quote takes the body of its change. */
const SHOWN: Readonly<Record<string, Shown>> = {
  createAccount: { by: 'getAccount', path: withId('account_id') },
  createIsolatedAccount: {
    by: 'getAccount',
    path: ({ account }) => withId('account_id')(Object(account)),
    more: { credit_limit: '12.00' },
  },
  setCreditLimit: { by: 'getAccount' },
  setQuotas: { by: 'getAccount', more: { records_per_domain: 10 } },
  suspendAccount: { by: 'getAccount', fields: { reason: 'suspension_reason' } },
  setBillingProfile: { by: 'getBillingProfile', more: { language: 'de', valid_from: '2026-11-04' } },
  issueApiKey: { by: 'listApiKeys' },
  rotateApiKey: { by: 'listApiKeys', path: ofDemoAccount, fields: { overlap_seconds: { testedIn: 'src/operator/operations.test.ts' } } },
  setApiKeyRateLimit: { by: 'listApiKeys', path: ofDemoAccount },
  setApiKeyRestrictions: { by: 'listApiKeys', path: ofDemoAccount },
  defineHostSystem: { by: 'getHostSystem' },
  scheduleHostSystemPrices: { by: 'listHostSystemPriceVersions' },
  defineOsImage: { by: 'listOsImages' },
  defineIpPool: { by: 'listIpPools' },
  createSale: { by: 'listSales' },
  addMarketItem: { by: 'listMarketItems', more: { account_id: demoAccount } },
  orderDedicatedServer: { by: 'getDedicatedServer', path: withId('server_id') },
  completeDedicatedSetup: {
    by: 'getDedicatedServer',
    fields: { management: { testedIn: 'src/reseller/dedicated/get-dedicated-server.test.ts' } },
  },
  setVmRdns: { by: 'getVmRdns' },
  setVmAbuseStatus: { by: 'getVm' },
  resizeVm: {
    by: 'getVm',
    more: { disk: 60, ips: 2, backup_slots: 3, network_speed: 1_100 },
    // The host system of the sample VM has none.
    fields: { storage: { testedIn: 'test/operator-inputs.test.ts' } },
  },
  adoptVm: { by: 'getVm' },
  createCreditNote: { by: 'getInvoice' },
  recordPayment: { by: 'listPayments', more: { invoice_id: sampleIdentifiers.invoice } },
  reversePayment: { by: 'listPayments', fields: { reason: 'reversal_reason' } },
  recordRefund: { by: 'listPayments' },
  setSeller: { by: 'getSeller', fields: { logo: { testedIn: 'src/core/accounting/invoice-document/logo.test.ts' } } },
  setDocumentSeries: { by: 'getDocumentSeries' },
  setTldPrice: { by: 'listTldPrices' },
  scheduleTldPrices: { by: 'listTldPriceVersions' },
  verifyOtp: {
    by: 'listVerifiers',
    fields: { code: { testedIn: 'src/operator/otp/verify.test.ts' }, account_id: { testedIn: 'src/operator/otp/verify.test.ts' } },
  },
  createOperatorToken: { by: 'listOperatorTokens' },
  rotateOperatorToken: {
    by: 'listOperatorTokens',
    more: { valid_until: '2099-01-01T00:00:00.000Z' },
    fields: { overlap_seconds: { testedIn: 'src/operator/access/access.test.ts' } },
  },
  registerVerifier: { by: 'listVerifiers' },
  advanceClock: { by: 'getClock', fields: { to: 'now', by_seconds: { testedIn: 'src/operator/sandbox/sandbox.test.ts' } } },
  createFault: { by: 'listFaults' },
  setDefaultRateLimit: SETTINGS,
  setVatRates: { ...SETTINGS, more: { time_zone: 'Europe/Vienna' } },
  setRequestLogRetention: SETTINGS,
  setAuditRetention: SETTINGS,
  setDefaultQuotas: SETTINGS,
  setSecondOperator: SETTINGS,
  setVmIdentifierQuarantine: { ...SETTINGS, more: { address_quarantine_days: 2 } },
};

const withBody = operatorApi.filter(({ id, operation }) => operation.body !== undefined && !id.startsWith('quote'));

test.each(withBody.map(({ id }) => id))('%s: a response shows each field', async (id) => {
  const shown = SHOWN[id];
  if (shown === undefined) throw new Error(`The body of ${id} is new: name here the operation that shows its fields.`);
  const { by, path, more = {}, fields = {} } = shown;
  const api = named(id);
  const seen = new Set<string>();
  const examples = bodiesOf(api).map(([, body]): Record<string, unknown> => Object(body));
  for (const body of Object.keys(more).length > 0 ? [...examples, { ...examples[0], ...more }] : examples) {
    const sandbox = await startSandbox();
    const sent = await pathFor(sandbox, api);
    const made = await send(sandbox, api, { path: sent, body });
    // A code is valid only in the sandbox that generated it.
    if (id !== 'verifyOtp') expect({ status: made.status, body: made.body }).toMatchObject({ status: api.status });
    const response = await send(sandbox, named(by), { path: path?.(Object(made.body)) ?? sent });
    for (const [field, value] of Object.entries(body)) {
      const place = fields[field] ?? field;
      if (typeof place === 'string') expect.soft(valuesOf(response.body, place), field).toEqual(expect.arrayContaining([shownAs(value)]));
      seen.add(field);
    }
  }
  for (const [field, place] of Object.entries(fields)) {
    if (typeof place === 'string') continue;
    expect(readFileSync(join(import.meta.dirname, '..', place.testedIn), 'utf8')).toContain(field);
    seen.add(field);
  }
  expect([...seen].toSorted()).toEqual([...(api.operation.body?.fields.keys() ?? [])].toSorted());
});

test('resizeVm: a response shows the extra storage', async () => {
  const operator = await startOperator();
  const { body } = await operator.call('createVm', { form: { ...SMALL_VM, hostsystem: 'de_epyc' } });
  const path = { vm_id: String(body.data.identifier) };
  await send(operator, named('resizeVm'), { path, body: { storage: 500 } });
  expect(await send(operator, named('getVm'), { path })).toMatchObject({ body: { storage: 500 } });
});

/** All values of a JSON value that have the name. */
function valuesOf(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [...(key === name ? [item] : []), ...valuesOf(item, name)]);
}

/** The value in a response: objects may have further properties there, and times have milliseconds. */
function shownAs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shownAs);
  if (typeof value === 'object' && value !== null)
    return expect.objectContaining(Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shownAs(item)])));
  return typeof value === 'string' && value.endsWith('Z') && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : value;
}
