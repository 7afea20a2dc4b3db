import type { Kysely } from 'kysely';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';
import { createTrigger } from './triggers.ts';

/** A change that accounts are told about. */
export interface Occasion {
  readonly type: string;
  /** Such as `update of state on vms`. */
  readonly change: string;
  /** SQL. Default: every such change. */
  readonly when?: string;
  /** SQL: the values that are not those of the family. */
  readonly with?: Partial<Pick<Family, 'account' | 'facts'>>;
}

/** Events about things of one kind, each in one table. `row` takes the place of `new` or `old`. */
export interface Family {
  /** SQL: the account. */
  readonly account: string;
  /** SQL: the subject of the event. Events with the same subject keep their order. */
  readonly subject: string;
  /** The facts of the event, with the SQL of each. */
  readonly facts: Readonly<Record<string, string>>;
  readonly occasions: readonly Occasion[];
}

function differs(columns: readonly string[]): string {
  return `(${columns.map((name) => `old.${name} is distinct from new.${name}`).join(' or ')})`;
}

const VM_COLUMNS = ['cores', 'mem', 'disk', 'storage', 'os', 'ips', 'backup_slots', 'network_speed', 'hostname', 'name', 'labels'];
const DOMAIN_COLUMNS = ['handle', 'terminated', 'ns1', 'ns2', 'ns3', 'ns4', 'ns5', 'transfer_lock', 'ds_records'];
/** No account has a VM in one of these states. */
const NO_VM = `('reserved', 'removed')`;
const IN_USE = `('registered', 'changing')`;

export const vms: Family = {
  account: 'row.account_id',
  subject: `'vm/' || row.id`,
  facts: {
    vmid: 'row.id',
    status: 'row.state',
    hostname: 'row.hostname',
    name: 'coalesce(row.name, row.hostname)',
    hostsystem: 'row.hostsystem',
    os: 'row.os',
    cores: 'row.cores',
    mem: 'row.mem',
    disk: 'row.disk',
    network_speed: 'cast(row.network_speed as text)',
    backup_slots: 'cast(row.backup_slots as text)',
  },
  occasions: [
    { type: 'vm.created', change: 'insert on vms', when: `new.state not in ${NO_VM}` },
    { type: 'vm.created', change: 'update of state on vms', when: `old.state = 'reserved' and new.state not in ${NO_VM}` },
    {
      type: 'vm.started',
      change: 'update of state on vms',
      when: `old.state not in ('reserved', 'running') and new.state = 'running'`,
    },
    {
      type: 'vm.stopped',
      change: 'update of state on vms',
      when: `old.state not in ('reserved', 'stopped') and new.state = 'stopped'`,
    },
    {
      type: 'vm.changed',
      change: 'update on vms',
      when: `old.state not in ${NO_VM} and new.state not in ${NO_VM} and ${differs(VM_COLUMNS)}`,
    },
    { type: 'vm.deleted', change: 'update of state on vms', when: `old.state not in ${NO_VM} and new.state = 'removed'` },
    { type: 'vm.deleted', change: 'delete on vms', when: `old.state not in ${NO_VM}` },
  ],
};

const backups: Family = {
  account: '(select account_id from vms where id = row.vm_id)',
  subject: `'vm/' || row.vm_id`,
  facts: { vmid: 'row.vm_id', backup_id: 'row.id' },
  occasions: [
    { type: 'vm.backup.created', change: 'insert on vm_backups', when: `new.state = 'available'` },
    { type: 'vm.backup.created', change: 'update of state on vm_backups', when: `old.state = 'creating' and new.state = 'available'` },
    // Of a schedule, only the first failure since its last success is an event.
    { type: 'vm.backup.failed', change: 'delete on vm_backups', when: `old.state = 'creating' and old.repeats_failure = 0` },
    { type: 'vm.backup.deleted', change: 'delete on vm_backups', when: `old.state <> 'creating'` },
  ],
};

const domainFacts = { domain: 'row.name', handle: 'row.handle', terminated: 'row.terminated', expire: 'row.expires' };

const domains: Family = {
  account: 'row.account_id',
  subject: `'domain/' || row.name`,
  facts: domainFacts,
  occasions: [
    { type: 'domain.registered', change: 'insert on domains', when: `new.state = 'registered'` },
    {
      type: 'domain.registered',
      change: 'update of state on domains',
      when: `old.state in ('reserved', 'pending') and new.state = 'registered'`,
    },
    { type: 'domain.failed', change: 'delete on domains', when: `old.state = 'pending'` },
    {
      type: 'domain.changed',
      change: 'update on domains',
      when: `old.state in ${IN_USE} and ${differs(DOMAIN_COLUMNS)} and old.account_id = new.account_id`,
    },
    { type: 'domain.renewed', change: 'update of expires on domains', when: `old.state in ${IN_USE} and new.expires > old.expires` },
    { type: 'domain.deleted', change: 'delete on domains', when: `old.state in ${IN_USE}` },
    { type: 'domain.registered', change: 'update of account_id on domains', when: 'old.account_id <> new.account_id' },
    {
      type: 'domain.transferred',
      change: 'update of account_id on domains',
      when: 'old.account_id <> new.account_id',
      // The account that no longer has the domain learns nothing of the other one.
      with: { account: 'old.account_id', facts: { ...domainFacts, handle: 'old.handle', terminated: 'old.terminated' } },
    },
  ],
};

const dedicatedServers: Family = {
  account: 'row.account_id',
  subject: `'dedicated/' || row.id`,
  facts: { identifier: 'row.id', state: 'row.state', terminated: 'row.terminated', renew: 'row.due' },
  occasions: [
    {
      type: 'dedicated.purchased',
      change: 'update of state on dedicated_servers',
      when: `old.state = 'offered' and new.state = 'ordered'`,
    },
    {
      type: 'dedicated.deployed',
      change: 'update of state on dedicated_servers',
      when: `old.state = 'ordered' and new.state = 'deployed'`,
    },
    {
      type: 'dedicated.changed',
      change: 'update of terminated on dedicated_servers',
      when: `old.state = 'deployed' and new.state = 'deployed' and ${differs(['terminated'])}`,
    },
    {
      type: 'dedicated.renewed',
      change: 'update of due on dedicated_servers',
      when: `old.state = 'deployed' and new.state = 'deployed' and new.due > old.due`,
    },
    {
      type: 'dedicated.ended',
      change: 'update of state on dedicated_servers',
      when: `old.state in ('ordered', 'deployed') and new.state = 'ended'`,
    },
    {
      type: 'dedicated.failed',
      change: 'update of state on dedicated_servers',
      when: `old.state = 'ordered' and new.state = 'offered'`,
      with: { account: 'old.account_id' },
    },
  ],
};

const invoices: Family = {
  account: 'row.account_id',
  subject: `'invoice/' || row.id`,
  facts: { invoiceID: 'row.id', number: 'row.number', total: 'row.total', credited: 'row.credited', status: 'row.status' },
  occasions: [
    { type: 'invoice.issued', change: 'insert on invoices', when: 'new.number is not null' },
    { type: 'invoice.issued', change: 'update of number on invoices', when: 'old.number is null and new.number is not null' },
    {
      type: 'invoice.paid',
      change: 'update of status on invoices',
      when: `new.number is not null and old.status <> 'PAID' and new.status = 'PAID'`,
    },
    {
      type: 'invoice.reopened',
      change: 'update of status on invoices',
      when: `new.number is not null and old.status <> 'OPEN' and new.status = 'OPEN'`,
    },
    { type: 'invoice.credited', change: 'update of credited on invoices', when: 'new.number is not null and new.credited > old.credited' },
    {
      type: 'invoice.canceled',
      change: 'update of status on invoices',
      when: `new.number is not null and old.status <> 'CANCELED' and new.status = 'CANCELED'`,
    },
  ],
};

const payments: Family = {
  account: 'row.account_id',
  subject: `'payment/' || row.id`,
  facts: { kind: 'row.kind', amount: 'row.amount', date: 'row.date' },
  occasions: [
    { type: 'payment.recorded', change: 'insert on payments', when: `new.kind = 'payment'` },
    { type: 'payment.refunded', change: 'insert on payments', when: `new.kind = 'refund'` },
    { type: 'payment.reversed', change: 'update of reversed on payments', when: 'old.reversed is null and new.reversed is not null' },
  ],
};

const accounts: Family = {
  account: 'row.id',
  subject: `'account'`,
  facts: { suspended_at: 'row.suspended_at' },
  occasions: [
    {
      type: 'account.suspended',
      change: 'update of suspended_at on accounts',
      when: 'old.suspended_at is null and new.suspended_at is not null',
    },
    {
      type: 'account.resumed',
      change: 'update of suspended_at on accounts',
      when: 'old.suspended_at is not null and new.suspended_at is null',
    },
  ],
};

const webhooks: Family = {
  account: 'row.account_id',
  subject: `'webhook/' || row.id`,
  facts: { webhook_id: 'row.id' },
  occasions: [
    {
      type: 'webhook.disabled',
      change: 'update of disabled_reason on webhooks',
      when: 'old.disabled_reason is null and new.disabled_reason is not null',
    },
  ],
};

const abuse: Family = {
  account: 'row.account_id',
  subject: `'vm/' || row.id`,
  facts: { vmid: 'row.id', abuse_status: 'row.abuse_status', reason: 'row.abuse_reason' },
  occasions: [
    {
      type: 'vm.abuse.changed',
      change: 'update of abuse_status, abuse_reason on vms',
      when: `new.abuse_reason is not null and ${differs(['abuse_status', 'abuse_reason'])}`,
    },
  ],
};

const monitors: Family = {
  account: '(select account_id from vms where id = row.vm_id)',
  subject: `'vm/' || row.vm_id`,
  facts: { vmid: 'row.vm_id', port: 'row.port' },
  occasions: [
    {
      type: 'vm.monitoring.unreachable',
      change: 'update of status on vm_monitors',
      when: `old.status <> 'unreachable' and new.status = 'unreachable'`,
    },
    {
      type: 'vm.monitoring.reachable',
      change: 'update of status on vm_monitors',
      when: `old.status = 'unreachable' and new.status = 'reachable'`,
    },
  ],
};

const FAMILIES: readonly Family[] = [vms, abuse, monitors, backups, domains, dedicatedServers, invoices, payments, accounts, webhooks];

/** Creates the triggers that note events, so that no writer can forget it. */
export async function createEventTriggers(db: Kysely<Schema>, engine: Engine): Promise<void> {
  for (const family of FAMILIES)
    for (const [index, occasion] of family.occasions.entries()) await createTrigger(db, engine, triggerOf(engine, family, occasion, index));
}

export function triggerOf(engine: Engine, family: Family, { type, change, when = '1 = 1', with: other }: Occasion, index: number) {
  const row = change.startsWith('delete') ? 'old' : 'new';
  const { account, subject, facts } = { ...family, ...other };
  const members = Object.entries(facts).map(([name, value]) => `'${name}', ${value}`);
  const json = engine === 'sqlite' ? 'json_object' : 'json_build_object';
  const values = `${account}, '${type}', ${subject}, cast(${json}(${members.join(', ')}) as text)`;
  return {
    trigger: `event_${type.replaceAll('.', '_')}_${index}`,
    event: change,
    when,
    action: `insert into event_inbox (account_id, type, subject, facts) values (${values.replaceAll('row.', `${row}.`)})`,
  };
}
