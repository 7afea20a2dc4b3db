import { readOperations, runContract, type ContractReport, type OpenApiDocument } from '@reseller/contract';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { loadDocument } from '../src/document.ts';
import { API_KEY, startFakeService, type Defects, type FakeAnswer, type FakeService } from './fake-service.ts';

let document: OpenApiDocument;
const services: FakeService[] = [];

beforeAll(async () => {
  document = await loadDocument();
});

afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

async function run(defects: Defects = {}): Promise<{ readonly report: ContractReport; readonly service: FakeService }> {
  const service = await startFakeService(document, defects);
  services.push(service);
  return { report: await runContract({ document, target: new URL(service.url), apiKey: API_KEY }), service };
}

/** An answer whose body has been changed at a path of property names and indexes. */
function changed(
  answer: FakeAnswer,
  path: readonly (string | number)[],
  change: (parent: Record<string | number, unknown>, key: string | number) => void,
): FakeAnswer {
  const body: unknown = structuredClone(answer.body);
  let parent = body;
  for (const key of path.slice(0, -1)) parent = Object(parent)[key];
  change(Object(parent), path.at(-1) ?? '');
  return { ...answer, body };
}

describe('a service that keeps the contract', () => {
  test('has no findings, and every operation that reads is verified', async () => {
    const { report, service } = await run();
    expect(report.findings).toEqual([]);
    const reading = report.coverage.filter(({ operation }) => service.called.includes(operation));
    expect(reading.map(({ verdict }) => verdict)).toEqual(reading.map(() => 'passed'));
    const writing = readOperations(document).filter(({ readOnly }) => !readOnly);
    expect(report.coverage.filter(({ verified }) => !verified)).toMatchObject(
      writing.map(({ id, billable }) => ({
        operation: id,
        verdict: 'unverified',
        statuses: [],
        reason: `${billable ? 'costs money' : 'changes state'}, and this run is read-only`,
      })),
    );
    expect(writing).toHaveLength(11);
  });

  test('is not asked for anything that costs money or changes state', async () => {
    const { service } = await run();
    expect([...new Set(service.called)].toSorted()).toEqual([
      'getCurrentInvoice',
      'getDedicatedServer',
      'getDomain',
      'getDomainPricings',
      'getHandle',
      'getInvoice',
      'listDedicatedMarket',
      'listDedicatedServers',
      'listDomains',
      'listHandleCountries',
      'listInvoices',
      'listRequests',
      'listSales',
      'listVmHosts',
    ]);
  });
});

describe('a service with a defect', () => {
  test('of type: the schema is violated', async () => {
    const { report } = await run({
      getCurrentInvoice: (answer) => changed(answer, ['data', 'creditLimit'], (parent, key) => (parent[key] = '1000')),
    });
    expect(report.findings).toMatchObject([
      {
        check: 'schema',
        operation: 'getCurrentInvoice',
        status: 200,
        pointer: '/data/creditLimit',
        verdict: 'violation',
        expected: 'must be a number',
        observed: '"1000"',
      },
    ]);
    expect(report.coverage.find(({ operation }) => operation === 'getCurrentInvoice')?.verdict).toBe('violation');
  });

  test('of a missing property: the schema is violated', async () => {
    const { report } = await run({
      listDedicatedServers: (answer) =>
        changed(answer, ['data', 'list', 0, 'accounting', 'price', 'gross'], (parent, key) => delete parent[key]),
    });
    expect(report.findings).toMatchObject([
      {
        check: 'schema',
        operation: 'listDedicatedServers',
        pointer: '/data/list/0/accounting/price/gross',
        verdict: 'violation',
        observed: 'nothing',
      },
    ]);
  });

  test('of the envelope: the schema is violated', async () => {
    const { report } = await run({ listDomains: (answer) => changed(answer, ['requestID'], (parent, key) => delete parent[key]) });
    expect(report.findings).toMatchObject([{ check: 'schema', operation: 'listDomains', pointer: '/requestID', verdict: 'violation' }]);
  });

  test('in a part that the specification does not show: something is learned', async () => {
    const { report } = await run({ listVmHosts: (answer) => ({ ...answer, body: { ...Object(answer.body), data: { hosts: [] } } }) });
    expect(report.findings).toMatchObject([
      { check: 'schema', operation: 'listVmHosts', pointer: '/data', verdict: 'learned', observed: 'an object {hosts: array}' },
    ]);
  });

  test('of status: it is discovered', async () => {
    const { report } = await run({ listSales: (answer) => ({ ...answer, status: 206 }) });
    expect(report.findings).toMatchObject([{ check: 'status-documented', operation: 'listSales', status: 206, verdict: 'discovered' }]);
    expect(report.coverage.find(({ operation }) => operation === 'listSales')).toMatchObject({ verdict: 'discovered', verified: false });
  });

  test('of content type: it is discovered', async () => {
    const { report } = await run({ listSales: (answer) => ({ ...answer, contentType: 'text/html; charset=utf-8' }) });
    expect(report.findings).toMatchObject([
      { check: 'content-type-documented', operation: 'listSales', verdict: 'discovered', observed: 'text/html' },
    ]);
  });

  test('that answers a page in place of JSON: that is a violation as well', async () => {
    const { report } = await run({ listSales: (answer) => ({ ...answer, contentType: 'text/html', body: '<html>Sign in</html>' }) });
    expect(report.findings).toMatchObject([
      { check: 'content-type-documented', operation: 'listSales', verdict: 'discovered' },
      { check: 'body-readable', operation: 'listSales', verdict: 'violation' },
    ]);
  });

  test('that answers errors with status 200: that is a violation', async () => {
    const body = { status: 'error', type: 'internal_error', requestID: null, message: 'It failed.', data: null };
    const { report } = await run({ listInvoices: (answer) => ({ ...answer, body }) });
    expect(report.findings).toMatchObject([{ check: 'error-in-success', operation: 'listInvoices', status: 200, verdict: 'violation' }]);
    expect(report.coverage.find(({ operation }) => operation === 'getInvoice')).toMatchObject({
      verdict: 'unverified',
      reason: 'no answer named a value for invoiceID',
    });
  });

  test('that tells more than is described: it is discovered', async () => {
    const { report } = await run({ listDomains: (answer) => ({ ...answer, body: { ...Object(answer.body), next: 'page-2' } }) });
    expect(report.findings).toMatchObject([
      { check: 'property-described', operation: 'listDomains', pointer: '/next', verdict: 'discovered', observed: 'string' },
    ]);
  });
});
