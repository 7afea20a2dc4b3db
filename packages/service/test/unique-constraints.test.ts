/** No input reaches a unique constraint of the store: the service finds the collision first, and says what collides. */
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';

import { ACCESS, EPYC, orderServer, RYZEN } from './dedicated.ts';
import { handleOf, register } from './domains.ts';
import { newInstances } from './instances.ts';
import { startOperator } from './operator.ts';
import type { TestOperator } from './operator.ts';

/** Constraints whose values only the service chooses: identifiers, numbers, hashes of random values, and rows that it replaces. */
const CHOSEN_BY_THE_SERVICE = [
  'accounts(id)',
  'api_keys(hash)',
  'api_keys(id)',
  'audit_chain(id)',
  'audit_records(id)',
  'audit_records(seq)',
  'billing_profiles(account_id)',
  'catalogue_version(id)',
  'charges(id)',
  'clock_mark(id)',
  'confirmations(operation, target)',
  'dedicated_servers(id)',
  'dns_records(id)',
  // Parts of the same PDF have the same bytes.
  'document_parts(document_id, number)',
  'document_series(kind)',
  'ended_sessions(hash)',
  'failed_authentications(minute, api, network)',
  'failed_jobs(account_id, work)',
  'faults(id)',
  'fencing_tokens(subject)',
  'handles(id)',
  'host_system_prices(hostsystem, valid_from)',
  'idempotency_keys(account_id, key_hash)',
  'identity(id)',
  'instances(id)',
  'invoices(account_id, period_start)',
  'invoices(id)',
  'issued_documents(id)',
  'issued_documents(invoice_id, name)',
  'kysely_migration(name)',
  'kysely_migration_lock(id)',
  'logos(hash)',
  'operator_tokens(hash)',
  'operator_tokens(id)',
  'otp_attempts(verifier_id, account_id)',
  'otps(account_id)',
  'otps(hash)',
  'payment_uses(payment_id, used_for)',
  'payments(id)',
  'positions(vm_id, number)',
  'rdns_changes(id)',
  'rdns_entries(address)',
  'request_log(account_id, number)',
  'request_log_bodies(month, account_id, hash)',
  'reservations(id)',
  'sale_prices(sale_id, hostsystem, resource)',
  'sales(id)',
  'settings(name)',
  'snapshot_rows(snapshot, position)',
  'spending_limits(id)',
  'spendings(limit_id, period)',
  'tld_prices(tld, valid_from)',
  'verifiers(hash)',
  'verifiers(id)',
  'ssh_keys(id)',
  'event_feeds(account_id)',
  'event_inbox(id)',
  'events(account_id, position)',
  'events(id)',
  // An event that waits for the webhook already is not added again.
  'webhook_deliveries(webhook_id, event_id)',
  'webhook_deliveries(webhook_id, number)',
  'webhook_secrets(id)',
  'webhooks(id)',
  'vm_backups(id)',
  'vm_consoles(hash)',
  'vm_monitors(vm_id)',
  'vm_counters(vm_id)',
  'vm_traffic(vm_id, day)',
  'vm_usage(vm_id, at)',
  'vm_user_data(vm_id, is_pending)',
  'vms(id)',
  'zone_changes(domain)',
];

const address = (last: number) => ({ address: `203.0.113.${last}`, gateway: '203.0.113.1' });
const network = (text: string) => ({ address: text, gateway: '2001:db8:77::1' });

async function ordered(service: TestOperator, id: string): Promise<string> {
  await orderServer(service, id, (await service.account()).id);
  return `/dedicated/servers/${id}/complete-setup`;
}

function send(service: TestOperator, method: string, path: string, body: object) {
  return service.operate(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
}

const SSH_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMvH6YYJeE9ZuxP8J2kJSTkz8PltKk+QffHf0dVokw7I';
const NODE = { name: 'shared-01', cores: 64, mem: 262_144, disk: 4_000, storage: 0 };

async function hostSystem(service: TestOperator, nodes: readonly object[]): Promise<object> {
  const { body } = await service.operate('/host-systems/nl_ryzen');
  const { name: _, nodes: _nodes, ...host } = Object(body);
  return { ...host, nodes };
}

/** For each constraint that input could reach, requests that collide, and the status of the last one. */
const COLLISIONS: Readonly<
  Record<string, Readonly<Record<string, { status: number; run(service: TestOperator): Promise<{ status: number }> }>>>
> = {
  'dedicated_addresses(address)': {
    'an IPv4 address twice': {
      status: 422,
      run: async (service) =>
        send(service, 'POST', await ordered(service, EPYC), { management: ACCESS, ipv4: [address(7), address(8), address(7)], ipv6: [] }),
    },
    'an IPv6 network twice, in two notations': {
      status: 422,
      run: async (service) =>
        send(service, 'POST', await ordered(service, EPYC), {
          management: ACCESS,
          ipv4: [address(7)],
          ipv6: [network('2001:db8:77::/64'), network('2001:0DB8:77:0::/64')],
        }),
    },
    'the address of another server': {
      status: 409,
      async run(service) {
        const [first, second] = [await ordered(service, EPYC), await ordered(service, RYZEN)];
        await send(service, 'POST', first, { management: ACCESS, ipv4: [address(7)], ipv6: [] });
        return send(service, 'POST', second, { management: ACCESS, ipv4: [address(7)], ipv6: [] });
      },
    },
  },
  'domains(name)': {
    'a registered domain': {
      status: 409,
      async run(service) {
        await register(service, 'reseller-customer.net');
        return service.call('registerDomain', { form: { domain: 'Reseller-Customer.net', handle: await handleOf(service) } });
      },
    },
  },
  'host_nodes(name)': {
    'a node twice': {
      status: 422,
      run: async (service) => send(service, 'PUT', '/host-systems/nl_new', await hostSystem(service, [NODE, NODE])),
    },
    'the node of another host system': {
      status: 409,
      async run(service) {
        await send(service, 'PUT', '/host-systems/nl_new', await hostSystem(service, [NODE]));
        return send(service, 'PUT', '/host-systems/nl_other', await hostSystem(service, [NODE]));
      },
    },
  },
  'host_systems(name)': {
    'an existing host system, which is replaced': {
      status: 200,
      async run(service) {
        await send(service, 'PUT', '/host-systems/nl_new', await hostSystem(service, [NODE]));
        return send(service, 'PUT', '/host-systems/nl_new', await hostSystem(service, [NODE]));
      },
    },
  },
  'ip_addresses(address)': {
    'a network that overlaps another pool': { status: 409, run: (service) => overlappingPool(service, 'other', '100.99.0.128/25') },
  },
  'ip_pools(id)': {
    'another network for an existing pool': { status: 409, run: (service) => overlappingPool(service, 'new', '100.98.0.0/24') },
  },
  'issued_documents(number)': {
    'one prefix for both kinds': { status: 422, run: (service) => series(service, 'R-', 'R-') },
    'a prefix that is the other one with digits': { status: 422, run: (service) => series(service, 'R-1', 'R-') },
    'a prefix that the other one continues with digits': { status: 422, run: (service) => series(service, 'R-', 'R-00') },
  },
  'payments(account_id, name)': {
    'the same payment again': { status: 200, run: (service) => paidTwice(service, '5.00') },
    'another payment with the name': { status: 409, run: (service) => paidTwice(service, '6.00') },
    'a refund with the name of a payment': { status: 409, run: (service) => paidTwice(service, '5.00', 'refunds') },
  },
  'os_images(name)': {
    'an existing image, which is replaced': {
      status: 200,
      run: (service) => send(service, 'PUT', '/os-images/debian_12', { displayname: 'Debian 12', username: 'root' }),
    },
  },
  'snapshots(name)': {
    'an existing snapshot, which is replaced': {
      status: 200,
      async run(service) {
        await service.operate('/sandbox/snapshots/one', { method: 'PUT' });
        return service.operate('/sandbox/snapshots/one', { method: 'PUT' });
      },
    },
  },
  'ssh_keys(account_id, fingerprint)': {
    'the same key with another comment': {
      status: 409,
      async run(service) {
        await service.call('addSshKey', { form: { ssh_key: `${SSH_KEY} one` } });
        return service.call('addSshKey', { form: { ssh_key: `${SSH_KEY} two` } });
      },
    },
  },
  'tlds(tld)': {
    'an existing TLD, which is replaced': {
      status: 200,
      run: (service) => send(service, 'PUT', '/tld-prices/net', { create: '9.00', renew: '9.00', transfer: '9.00' }),
    },
  },
};

async function overlappingPool(service: TestOperator, id: string, cidr: string) {
  const pool = { datacenter: 'fra1', ddos_protection: 'Arbor' };
  await send(service, 'PUT', '/ip-pools/new', { ...pool, cidr: '100.99.0.0/24' });
  return send(service, 'PUT', `/ip-pools/${id}`, { ...pool, cidr });
}

async function paidTwice(service: TestOperator, amount: string, kind = 'payments') {
  const { id } = await service.account();
  const payment = { amount: '5.00', date: '2026-11-01', method: 'cash', reference: 'Counter' };
  await send(service, 'PUT', `/accounts/${id}/payments/one`, payment);
  return send(service, 'PUT', `/accounts/${id}/${kind}/one`, { ...payment, amount });
}

function series(service: TestOperator, invoices: string, creditNotes: string) {
  const numbers = { next_number: 1, digits: 5 };
  return send(service, 'PUT', '/invoicing/series', {
    invoices: { prefix: invoices, ...numbers },
    credit_notes: { prefix: creditNotes, ...numbers },
  });
}

test('each unique constraint of the store is either chosen by the service or has requests that collide', async () => {
  const { store } = await startOperator({ engine: 'sqlite' });
  const constraints = await store.read(async (db) => {
    const { rows } = await sql<{ name: string; columns: string }>`
      select t.name, (select group_concat(i.name, ', ') from pragma_index_info(l.name) as i) as columns
        from sqlite_master as t, pragma_index_list(t.name) as l where t.type = 'table' and l."unique" = 1
      union
      select t.name, group_concat(c.name, ', ') from sqlite_master as t, pragma_table_info(t.name) as c
        where t.type = 'table' and t.name not like 'sqlite_%' and c.pk > 0 group by t.name
    `.execute(db);
    return rows.map(({ name, columns }) => `${name}(${columns})`);
  });
  expect([...new Set(constraints)].toSorted()).toEqual([...CHOSEN_BY_THE_SERVICE, ...Object.keys(COLLISIONS)].toSorted());
});

describe.each(Object.entries(COLLISIONS))('%s', (_, collisions) => {
  test.each(Object.entries(collisions))('responds to %s', async (__, { status, run }) => {
    const service = await startOperator();
    expect((await run(service)).status).toBe(status);
  });
});

test(
  'two operators who complete set-ups with one address at once get a success and a conflict on PostgreSQL',
  { tags: 'outer' },
  async () => {
    const instances = await newInstances();
    const [first, second] = [await instances.start(), await instances.start()];
    for (const id of [EPYC, RYZEN]) await first.operate('POST', '/dedicated/servers', { account_id: instances.accountId, market_id: id });
    const body = { management: ACCESS, ipv4: [address(7)], ipv6: [] };
    const responses = await Promise.all([
      first.operate('POST', `/dedicated/servers/${EPYC}/complete-setup`, body),
      second.operate('POST', `/dedicated/servers/${RYZEN}/complete-setup`, body),
    ]);
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  },
);
