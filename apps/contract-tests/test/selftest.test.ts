import { CHECKS, type Exchange, type FakeAnswer } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';
import { loadDocument } from '../src/document.ts';
import { controlRun, proveCheck, runAgainstFake } from '../src/selftest.ts';

const document = await loadDocument();

test('a service without defects has no findings in full mode', async () => {
  expect(await controlRun(document)).toEqual([]);
});

describe('every check finds its own defect', () => {
  test.each(CHECKS.map((check) => [check.id, check] as const))('%s', async (_, check) => {
    expect(await proveCheck(document, check)).toMatchObject({ check: check.id, found: true });
  });
});

test('of many defects in one service all are found, and nothing else', async () => {
  // Each in an operation of its own, so that none hides another.
  const seeded = new Map<string, string>([
    ['property-required', 'getDedicatedServer'],
    ['property-type', 'getCurrentInvoice'],
    ['property-null', 'getHandle'],
    ['property-format', 'listSales'],
    ['value-seen', 'getDomain'],
    ['property-described', 'listDedicatedMarket'],
    ['content-type-documented', 'listDomains'],
    ['header-described', 'getDomainPricings'],
    ['status-agrees', 'listHandleCountries'],
    ['body-readable', 'listInvoices'],
    ['status-documented', 'listVmHosts'],
    ['removed-stays-removed', 'deleteDedicatedServer'],
    ['form-refused', 'createHandle'],
    ['identifier-unknown', 'requestDomainAuthcode'],
    ['otp-laws', 'generateOtp'],
    ['page-overlap', 'listRequests'],
  ]);
  const tamper = (exchange: Exchange): FakeAnswer | undefined => {
    const found = CHECKS.find(({ id }) => exchange.operation !== undefined && seeded.get(id) === exchange.operation.id);
    return found?.defect.tamper(exchange);
  };
  const { findings } = await runAgainstFake(document, tamper);
  const touched = (check: string): readonly string[] =>
    findings.filter((finding) => finding.check === check).flatMap(({ touches }) => touches.map(({ operation }) => operation));
  expect([...seeded].filter(([check, operation]) => !touched(check).includes(operation))).toEqual([]);
  const alarms = findings.flatMap(({ check, verdict, touches }) =>
    verdict === 'violation' ? touches.map(({ operation }) => `${check} ${operation}`) : [],
  );
  const known = new Set([...seeded].map(([check, operation]) => `${check} ${operation}`));
  expect([...new Set(alarms)].filter((alarm) => !known.has(alarm))).toEqual([]);
});
