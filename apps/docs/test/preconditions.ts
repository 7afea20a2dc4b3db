/** Things that samples need and a fresh sandbox lacks. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { createReseller } from '@reseller/client';
import {
  createFault,
  createIsolatedAccount,
  createOperatorToken,
  createSnapshot,
  defineIpPool,
  getHostSystem,
  listMarketItems,
  orderDedicatedServer,
  recordPayment,
  restoreSnapshot,
  scheduleHostSystemPrices,
  scheduleTldPrices,
  setVmAbuseStatus,
  suspendAccount,
} from '@reseller/operator-client';
import type { Client } from '@reseller/operator-client';

import type { Sandbox } from '../../../.config/sandbox.ts';

const DEMO_ACCOUNT = '01900000-0000-7000-8000-000000000001';

/** The name of a snapshot of a fresh sandbox. */
export const FRESH = 'fresh';

/** Creates what a sample needs. @returns Texts of the sample, such as identifiers, and the actual ones. */
type Precondition = (sandbox: Sandbox, operator: Client) => Promise<Record<string, string>>;

const snapshot: Precondition = async (_, client) => {
  await createSnapshot({ client, path: { snapshot: 'before-month-end' } });
  return {};
};

const operatorToken: Precondition = async (_, client) => {
  const { id } = await createOperatorToken({ client, body: { name: 'samples', scopes: ['read'] } });
  return { '0192f7c1-2d3e-7f40-8a51-6b7c8d9e0f1a': id };
};

const payment =
  (name: string): Precondition =>
  async (_, client) => {
    const path = { account_id: DEMO_ACCOUNT, payment: name };
    await recordPayment({
      client,
      path,
      body: { amount: '1000.00', date: '2026-11-04', method: 'bank_transfer', reference: 'In advance' },
    });
    return {};
  };

/** A VM with an additional address, the one in the samples. */
const additionalAddress: Precondition = async ({ baseUrl, apiKey }) => {
  const vm = { cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'nl_ryzen', ips: 2 };
  const { config } = await createReseller({ baseUrl, apiKey }).vm.create(vm);
  return { '100.64.0.4': config.ipv4[1]?.address ?? '' };
};

/** The date of scheduled prices in samples. */
const VALID_FROM = '2099-01-01T00:00:00.000Z';

/** By the name of the reference and the operationId. */
const preconditions: Readonly<Record<string, Precondition>> = {
  'reseller.assignIp': additionalAddress,
  'reseller.quoteAssignIp': additionalAddress,
  'reseller.releaseIp': additionalAddress,
  'reseller.submitVmAbuseStatement': async (_, client) => {
    await setVmAbuseStatus({ client, path: { vm_id: '48213' }, body: { status: 'STATEMENT_EXPECTED', reason: 'Unwanted mail' } });
    return {};
  },
  'operator.verifyOtp': async ({ baseUrl, apiKey }) => ({
    '48105529': (await createReseller({ baseUrl, apiKey }).account.createOtp()).otp_code,
  }),
  // The request log of the sample data is empty.
  'operator.getAccountRequest': async ({ baseUrl, apiKey }) => {
    await createReseller({ baseUrl, apiKey }).vm.hosts();
    return {};
  },
  'operator.withdrawHostSystemPrices': async (_, client) => {
    const path = { hostsystem: 'nl_ryzen' };
    const { prices } = await getHostSystem({ client, path });
    await scheduleHostSystemPrices({ client, path, body: { prices, valid_from: VALID_FROM } });
    return {};
  },
  'operator.getIpPool': async (_, client) => {
    const body = { datacenter: 'AMS1', cidr: '203.0.113.0/24', ddos_protection: 'Arbor' };
    await defineIpPool({ client, path: { ip_pool_id: 'ams1-own-v4' }, body });
    return {};
  },
  'operator.withdrawTldPrices': async (_, client) => {
    const prices = { create: '9.40', renew: '9.40', transfer: '5.00' };
    await scheduleTldPrices({ client, path: { tld: 'de' }, body: { ...prices, valid_from: VALID_FROM } });
    return {};
  },
  'operator.reversePayment': payment('statement-2026-11-04-3'),
  'operator.recordRefund': payment('in-advance'),
  'operator.deleteSnapshot': snapshot,
  'operator.restoreSnapshot': snapshot,
  'operator.rotateOperatorToken': operatorToken,
  'operator.revokeOperatorToken': operatorToken,
  // The sandbox sets up the server of the sample data 15 minutes after its start.
  'operator.completeDedicatedSetup': async (_, client) => {
    const [offer] = (await listMarketItems({ client })).items;
    const ordered = await orderDedicatedServer({ client, body: { account_id: DEMO_ACCOUNT, market_id: offer?.id ?? '' } });
    return { '2f1acc6d-5c3b-4f0e-9a76-0d8b1e4c7f25': ordered.id };
  },
  'operator.removeFault': async (_, client) => {
    const { id } = await createFault({ client, body: { operations: ['listInvoices'], effect: { kind: 'error', status: 503 } } });
    return { '0192f7b4-2b3c-7d4e-9f50-6b7c8d9e0f1a': id };
  },
  'operator.eraseAccount': async (_, client) => {
    const { account } = await createIsolatedAccount({ client, body: { name: 'samples' } });
    await suspendAccount({ client, path: { account_id: account.id }, body: { reason: 'Left' } });
    return { [DEMO_ACCOUNT]: account.id };
  },
  'operator.deleteIsolatedAccount': async (_, client) => {
    const { account } = await createIsolatedAccount({ client, body: { name: 'samples' } });
    return { [DEMO_ACCOUNT]: account.id };
  },
};

/** Their machines exist only where a hypervisor is connected. packages/service/test/operator-examples.test.ts sends these examples. */
export const NEED_MACHINES: ReadonlySet<string> = new Set(['adoptVm', 'releaseVm']);

/** @param operation Name of the reference and operationId. @returns Whether `prepare` creates something for the operation. */
export function hasPrecondition(operation: string): boolean {
  return operation in preconditions;
}

/** Sandboxes whose data may differ from those that `keepFresh` kept. Restoring them takes longer than most requests. */
const changed = new WeakSet<Sandbox>();

/** The addresses of each pool that samples may need. */
const ADDRESSES = 64;

/** Keeps the data of the sandbox, so that `prepare` can return to them. */
export async function keepFresh({ dataDirectory }: Sandbox, client: Client): Promise<void> {
  const store = new DatabaseSync(join(dataDirectory, 'store.sqlite'), { timeout: 10_000 });
  // A sandbox has thousands of free addresses, which take most of the time to restore.
  store.exec(`delete from ip_addresses where vm_id is null and position >= ${ADDRESSES}`);
  store.close();
  await createSnapshot({ client, path: { snapshot: FRESH } });
}

/** Returns to the data that `keepFresh` kept. */
export async function restoreFresh(client: Client): Promise<void> {
  await restoreSnapshot({ client, path: { snapshot: FRESH } });
}

/** An operation of one of the documents. */
interface Prepared {
  /** Name of the reference and operationId. */
  readonly operation: string;
  readonly method: string;
}

/** Puts the sandbox into the state in which a sample works. @returns The code for this sandbox: with its addresses and identifiers. */
export async function prepare({ operation, method }: Prepared, code: string, sandbox: Sandbox, operator: Client): Promise<string> {
  if (changed.delete(sandbox)) await restoreFresh(operator);
  const precondition = preconditions[operation];
  if (method.toUpperCase() !== 'GET' || precondition) changed.add(sandbox);
  const replaced = (await precondition?.(sandbox, operator)) ?? {};
  return Object.entries(replaced).reduce((text, [shown, actual]) => text.replaceAll(shown, actual), sandbox.withAddresses(code));
}
