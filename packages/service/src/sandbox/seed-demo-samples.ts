/** Resources of the demo account with the identifiers of the examples, except dedicated servers. */
import document from '@reseller/openapi/service.json' with { type: 'json' };
import { v7 as uuidv7 } from 'uuid';

import { holdOwed } from '../core/accounting/credit-hold.ts';
import { issueAllPending } from '../core/accounting/invoice-document/issue.ts';
import { writeBillingProfile } from '../core/accounting/invoice-document/parties.ts';
import { closeEndedPeriods } from '../core/accounting/period-end.ts';
import { beginPosition, holdOf } from '../core/accounting/vm-billing.ts';
import { catalogueOf } from '../core/catalogue/catalogue.ts';
import { findHostSystem, pricesAt } from '../core/catalogue/host-system.ts';
import { TEST_EVENT } from '../core/events/deliveries.ts';
import { addSecret } from '../core/events/webhook.ts';
import { assignAddresses } from '../core/vm/addresses.ts';
import { insertVm } from '../core/vm/new-vm.ts';
import { takeRoom } from '../core/vm/placement.ts';
import type { Services } from '../delivery/runtime.ts';
import { VM_IDENTIFIERS, DEFAULTS } from '../generated/facts.gen.ts';
import type { Ports } from '../ports/ports.ts';
import { periodOf } from '../rules/billing.ts';
import { hashOfApiKey, newApiKey, newVerifierToken, sha256 } from '../rules/credentials.ts';
import { beginRegistration } from '../rules/domain-registration.ts';
import { monthlyPriceOf } from '../rules/resources.ts';
import type { Db } from '../store/store.ts';
import { sampleIdentifiers } from './sample-identifiers.ts';
import { demoBillingProfile, undated } from './seller.ts';
import { addSimulatedHistory } from './simulated-usage.ts';

/** Age of the sample domains. Their transfer lock has expired, so their status is OK. */
const DOMAIN_AGE_SECONDS = 90 * 86_400;
/** Runtime of the sample VM in the previous period. It gives the sample invoice a small total. */
const BILLED_SECONDS = 10 * 86_400;

/**
 * Adds an API key, a verifier, two handles (one without a phone number), two domains (one cancelled, the other with a DNS record), an SSH key, a webhook with a delivery, a running VM, and the open invoice of
 * the previous period.
 */
export async function addDemoSamples(db: Db, { ports, secret }: Services, accountId: string): Promise<void> {
  await addHandle(db, ports, { accountId, id: sampleIdentifiers.handle, phone: '+49.6955501234' });
  await addHandle(db, ports, { accountId, id: sampleIdentifiers.handleWithoutPhone, phone: null });
  await addDomain(db, ports, { accountId, name: sampleIdentifiers.domain, terminated: 0 });
  await addDomain(db, ports, { accountId, name: sampleIdentifiers.cancelledDomain, terminated: 1 });
  await writeBillingProfile(db, accountId, undated(demoBillingProfile), ports.clock.now());
  await addDnsRecord(db, ports);
  await addSshKeys(db, ports, accountId);
  await addWebhook(db, { ports, secret }, accountId);
  await addVm(db, ports, accountId);
  await issueAllPending(db);
  await addCredentials(db, ports, accountId);
}

/** Adds an API key and a verifier that the operator can manage. Their secrets are not kept, so they give no access. */
async function addCredentials(db: Db, { clock, random }: Ports, accountId: string): Promise<void> {
  const created = clock.now();
  await db
    .insertInto('api_keys')
    .values({
      id: sampleIdentifiers.apiKey,
      account_id: accountId,
      hash: hashOfApiKey(newApiKey(random, 'sandbox')),
      label: 'Sample',
      mode: 'sandbox',
      created,
      revoked: null,
    })
    .execute();
  await db
    .insertInto('verifiers')
    .values({ id: sampleIdentifiers.verifier, name: 'Sample support desk', hash: sha256(newVerifierToken(random)), created, revoked: null })
    // A reset keeps verifiers.
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

async function addHandle(
  db: Db,
  { clock }: Ports,
  { accountId, id, phone }: { accountId: string; id: string; phone: string | null },
): Promise<void> {
  await db
    .insertInto('handles')
    .values({
      id,
      account_id: accountId,
      type: 'PERS',
      gender: 'MALE',
      firstname: 'Jonas',
      lastname: 'Weidenfels',
      organisation: null,
      street: 'Musterallee',
      number: '12a',
      zipcode: '60311',
      city: 'Frankfurt am Main',
      region: 'Hessen',
      countrycode: 'DE',
      email: 'jonas.weidenfels@reseller-customer.example',
      phone,
      fax: null,
      created: clock.now(),
    })
    .execute();
}

async function addDomain(
  db: Db,
  { clock, registrar }: Ports,
  { accountId, name, terminated }: { accountId: string; name: string; terminated: 0 | 1 },
): Promise<void> {
  const { created, expires, lockedUntil } = beginRegistration(Math.floor(clock.now() / 1000) - DOMAIN_AGE_SECONDS);
  const [sld = '', ...tld] = name.split('.');
  const [ns1 = '', ns2 = ''] = registrar.standardNameservers;
  await db
    .insertInto('domains')
    .values({
      name,
      account_id: accountId,
      state: 'registered',
      sld,
      tld: tld.join('.'),
      handle: sampleIdentifiers.handle,
      sealed_authcode: null,
      terminated,
      ns1,
      ns2,
      ns3: null,
      ns4: null,
      ns5: null,
      created,
      expires,
      locked_until: lockedUntil,
      hold: 0,
    })
    .execute();
}

/** The SSH keys of the examples. */
async function addSshKeys(db: Db, { clock }: Ports, accountId: string): Promise<void> {
  for (const { ssh_key_id: id, displayname, fingerprint, ssh_key: public_key } of document.components.examples.ListSshKeysListed.value.data
    .list)
    await db
      .insertInto('ssh_keys')
      .values({ id, account_id: accountId, displayname, public_key, fingerprint, created: clock.now() })
      .execute();
}

/** The webhook of the examples, which has received the test of its URL. No such URL exists, so it receives only rare events. */
async function addWebhook(db: Db, services: Services, accountId: string): Promise<void> {
  const { webhook: id, webhookDelivery: number } = sampleIdentifiers;
  const now = services.ports.clock.now();
  const [sample] = document.components.examples.ListWebhooksListed.value.data.list;
  if (!sample) throw new Error('The document has no example of a webhook.');
  const { url, description, events } = sample;
  const row = { id, account_id: accountId, url, description, types: JSON.stringify(events), enabled: 1, last_delivery: number };
  await db
    .insertInto('webhooks')
    .values({ ...row, disabled_reason: null, failing_since: null, created: now })
    .execute();
  await addSecret(db, services, id, now);
  const [type, subject, data] = [TEST_EVENT, `webhook/${id}`, JSON.stringify({ webhook_id: id })];
  const eventId = uuidv7({ msecs: now, random: services.ports.random.bytes(16) });
  await db.insertInto('events').values({ id: eventId, account_id: accountId, position: 1, type, subject, data, entered: now }).execute();
  await db.insertInto('event_feeds').values({ account_id: accountId, last: 1, deleted: 0 }).execute();
  const attempt = { attempts: 1, first_attempt: now, last_attempt: now, status: 204, error: null, duration: 84 };
  const claim = { next_attempt: now, claimed_until: 0, claim: null };
  await db
    .insertInto('webhook_deliveries')
    .values({ webhook_id: id, number, event_id: eventId, subject, state: 'delivered', ...attempt, ...claim, created: now })
    .execute();
}

/** The address of the website of the sample domain. */
async function addDnsRecord(db: Db, { clock }: Ports): Promise<void> {
  const { dnsRecord: id, domain } = sampleIdentifiers;
  const { ttl } = DEFAULTS.AddDomainDnsForm;
  await db.insertInto('dns_records').values({ id, domain, sub: '', type: 'A', data: '198.51.100.23', ttl, changed: clock.now() }).execute();
}

/** The VM was bought in the previous period. Closing that period creates the invoice. */
async function addVm(db: Db, { clock }: Ports, accountId: string): Promise<void> {
  const { vm: vmId, invoice } = sampleIdentifiers;
  const now = clock.now();
  const { start: thisPeriod } = periodOf(Math.floor(now / 1000));
  const start = thisPeriod - BILLED_SECONDS;
  const { hosts, pools } = await catalogueOf(db);
  const host = findHostSystem(hosts, 'nl_ryzen');
  if (!host) throw new Error('The sandbox has no host system nl_ryzen for its sample VM.');
  const size = { cores: 2, mem: 4096, disk: 40, ips: 1, backup_slots: 2, network_speed: 1000, storage: null };
  const { prices, validFrom } = pricesAt(host, start * 1000);
  const monthlyPrice = monthlyPriceOf(size, prices);
  await insertVm(
    db,
    {
      ...size,
      node: await takeRoom(db, host.name, size),
      account_id: accountId,
      state: 'running',
      hostsystem: host.name,
      os: 'debian_12',
      hostname: 'KVM',
      name: null,
      labels: '{}',
      ssh_key: null,
      ssh_key_displayname: null,
      password_enabled: 1,
      default_ptr: undefined,
      monthly_price: Number(monthlyPrice),
      prices_from: validFrom,
      sale_id: null,
      price_basis: 'STANDARD',
      created: start * 1000,
    },
    { from: vmId, now, identifiers: VM_IDENTIFIERS },
  );
  await db
    .insertInto('vm_backups')
    .values({
      id: sampleIdentifiers.backup,
      vm_id: vmId,
      description: 'before the upgrade',
      state: 'available',
      is_scheduled: 0,
      created: now,
      disk: size.disk,
      os: 'debian_12',
      hostname: 'KVM',
      ssh_key: null,
      ssh_key_displayname: null,
      password_enabled: 1,
    })
    .execute();
  await db.updateTable('vms').set({ is_sample: 1 }).where('id', '=', vmId).execute();
  await addSimulatedHistory(db, { id: vmId, ...size, booted: null, created: start * 1000 }, now);
  await assignAddresses(db, {
    pools,
    accountId,
    vmId,
    datacenter: host.datacenter_name,
    ips: size.ips,
    allowFallbackIPs: false,
    now,
  });
  await db
    .updateTable('accounts')
    .set({ period_start: periodOf(start).start })
    .where('id', '=', accountId)
    .execute();
  await holdOwed(db, accountId, holdOf({ start, monthlyPrice }));
  await beginPosition(db, { vmId, accountId, type: 'CREATE', start, monthlyPrice });
  await closeEndedPeriods(db, accountId, thisPeriod);
  await renameInvoice(db, accountId, invoice);
}

/** Gives the account's only invoice the identifier of the examples. Its positions refer to it, so they are detached first. */
async function renameInvoice(db: Db, accountId: string, id: string): Promise<void> {
  const closed = await db.selectFrom('invoices').selectAll().where('account_id', '=', accountId).executeTakeFirstOrThrow();
  await db.updateTable('positions').set({ invoice_id: null }).where('invoice_id', '=', closed.id).execute();
  await db.deleteFrom('invoices').where('id', '=', closed.id).execute();
  await db
    .insertInto('invoices')
    .values({ ...closed, id })
    .execute();
  await db.updateTable('positions').set({ invoice_id: id }).where('account_id', '=', accountId).where('stop', 'is not', null).execute();
}
