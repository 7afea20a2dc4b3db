/** One valid call for each operation of the document, with every field of its form. */
import { issueKey } from '../src/core/account/account.ts';
import { addMarketServer } from '../src/core/dedicated/order.ts';
import type { OperationId } from '../src/reseller/operation.ts';
import { sandboxMarket } from '../src/sandbox/market.ts';
import { completeSetUp, EPYC, orderServer, RYZEN, XEON } from './dedicated.ts';
import { handleOf, PERSON, PHONE, register, DS_RECORD } from './domains.ts';
import { SMALL_VM } from './harness.ts';
import type { TestService } from './harness.ts';
import type { Sent } from './http-client.ts';
import { apiOf, pathParametersOf } from './operations.ts';
import { addConfirmed } from './webhook-receiver.ts';

/** The account that calls. */
export interface Owner {
  readonly id: string;
  readonly apiKey: string;
}

/** All fields of POST /domain/register except `handle`: a transfer with nameservers. */
const TRANSFER = {
  domain: 'moved-here.net',
  authcode: 'example-authcode-1',
  ns1: 'ns1.reseller-dns.example',
  ns2: 'ns2.reseller-dns.example',
  max_price: '1000.00',
};

const EVERY_VM_FIELD = {
  cores: 2,
  mem: 4096,
  disk: 40,
  os: 'debian_12',
  hostsystem: 'de_epyc',
  ips: 2,
  backup_slots: 3,
  network_speed: 500,
  hostname: 'web1',
  storage: 100,
  ssh_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBKJYnCjhCwOsLjSbGdh6VfHpe0vJCkhDKLgHpVxkmVv ops@reseller-customer.net',
  ssh_key_displayname: 'ops laptop',
  user_data: '#!/bin/sh\necho ready > /run/ready\n',
  allowFallbackIPs: true,
  default_ptr: 'web1.reseller-customer.net',
  name: 'Shop',
  labels: 'env=production,team=web',
  max_price: '1000.00',
};

const EVERY_VM_CHANGE = {
  cores: 4,
  mem: 8192,
  disk: 80,
  storage: 200,
  ips: 3,
  backup_slots: 4,
  network_speed: 1000,
  allowFallbackIPs: true,
  max_price: '1000.00',
};

const FIVE_NAMESERVERS = Object.fromEntries([1, 2, 3, 4, 5].map((number) => [`ns${number}`, `ns${number}.reseller-dns.example`]));

/**
 * Prepares what an operation needs on the owner's account, and says how it is then called. All of
 * them can be prepared on one account: none uses what another one does. An operation without a path parameter and a body needs nothing.
 */
const goodCalls: Readonly<Partial<Record<OperationId, (service: TestService, owner: Owner) => Promise<Sent>>>> = {
  createVm: async () => ({ form: EVERY_VM_FIELD }),
  reinstallVm: async (service, owner) => ({
    ...(await buyVm(service, owner)),
    form: { os: 'debian_13', user_data: '#cloud-config\npackages: [nginx]\n' },
  }),
  searchVms: async () => ({ form: { labels: 'env=production,!old' } }),
  editVm: async (service, owner) => ({ ...(await buyVm(service, owner)), form: { name: 'Shop', hostname: 'shop1', labels: 'env=test' } }),
  getVmConfig: buyVm,
  getVmInstallation: buyVm,
  getVmStatus: buyVm,
  setVmPower: async (service, owner) => ({ ...(await buyVm(service, owner)), form: { mode: 'stop' } }),
  changeVm: async (service, owner) => ({ ...(await buyVm(service, owner, EVERY_VM_FIELD)), form: EVERY_VM_CHANGE }),
  quoteCreateVm: async () => ({ form: EVERY_VM_FIELD }),
  quoteChangeVm: async (service, owner) => ({ ...(await buyVm(service, owner, EVERY_VM_FIELD)), form: EVERY_VM_CHANGE }),
  deleteVm: buyVm,
  resetVmPassword: async (service, owner) => ({
    ...(await buyVm(service, owner)),
    form: { ssh_key_id: await storedKeyOf(service, owner.apiKey) },
  }),
  setVmMonitoring: async (service, owner) => ({ ...(await buyVm(service, owner)), form: { enabled: true, port: 443 } }),
  submitVmAbuseStatement: async (service, owner) => {
    const sent = await buyVm(service, owner);
    await service.store.commit(({ db }) =>
      db
        .updateTable('vms')
        .set({ abuse_status: 'STATEMENT_EXPECTED', abuse_reason: 'Unwanted mail' })
        .where('id', '=', Number(sent.path.vmid))
        .execute(),
    );
    return { ...sent, form: { statement: 'We have removed the contact form.' } };
  },
  attachVmIso: async (service, owner) => ({ ...(await buyVm(service, owner)), form: { iso: 'systemrescue_12' } }),
  detachVmIso: async (service, owner) => {
    const sent = await buyVm(service, owner);
    await service.call('attachVmIso', { ...sent, form: { iso: 'systemrescue_12' }, apiKey: owner.apiKey });
    return sent;
  },
  addSshKey: async () => ({ form: { ssh_key: EVERY_VM_FIELD.ssh_key, displayname: 'ops laptop' } }),
  removeSshKey: async (service, { apiKey }) => ({ path: { ssh_key_id: await storedKeyOf(service, apiKey) } }),
  listVmBackups: buyVm,
  createVmBackup: async (service, owner) => ({ ...(await buyVm(service, owner)), form: { description: 'before the upgrade' } }),
  restoreVmBackup: async (service, owner) => {
    const { vmid, backup_id } = await backUp(service, owner);
    return { path: { vmid }, form: { backup_id } };
  },
  deleteVmBackup: async (service, owner) => ({ path: await backUp(service, owner) }),
  setVmBackupSchedule: async (service, owner) => ({ ...(await buyVm(service, owner)), form: { interval: 'daily' } }),
  getVmDdosProtection: buyVm,
  openVmConsole: buyVm,
  getVmUsage: buyVm,
  getVmTraffic: buyVm,
  listVmRdns: buyVm,
  setVmRdns: async (service, owner) => {
    const { path } = await buyVm(service, owner);
    return { path, form: { domain: 'mail.reseller-customer.net', ip_address: await addressOf(service, path, owner) } };
  },
  removeVmRdns: async (service, owner) => {
    const { path } = await buyVm(service, owner);
    return { path: { ...path, ip_address: await addressOf(service, path, owner) } };
  },
  buyIps: purchaseOfIps,
  quoteBuyIps: purchaseOfIps,
  assignIp: moveOfIp,
  quoteAssignIp: moveOfIp,
  releaseIp: async (service, owner) => ({ path: (await moveOfIp(service, owner)).path, form: { max_price: '1000.00' } }),
  getDedicatedServer: (service, owner) => deployServer(service, owner, EPYC),
  deleteDedicatedServer: (service, owner) => deployServer(service, owner, RYZEN),
  undeleteDedicatedServer: async (service, owner) => {
    const sent = await deployServer(service, owner, XEON);
    await service.call('deleteDedicatedServer', { ...sent, apiKey: owner.apiKey });
    return sent;
  },
  registerDomain: async (service, { apiKey }) => ({ form: { ...TRANSFER, handle: await handleOf(service, { apiKey, phone: PHONE }) } }),
  getDomain: (service, owner) => registerDomain(service, owner, 'looked-at.net'),
  setDomainNameservers: async (service, owner) => ({
    ...(await registerDomain(service, owner, 'redirected.net')),
    form: FIVE_NAMESERVERS,
  }),
  renewDomain: (service, owner) => renewalOf(service, owner, 'kept.net'),
  quoteRenewDomain: (service, owner) => renewalOf(service, owner, 'priced.net'),
  setDomainHandle: async (service, owner) => ({
    ...(await registerDomain(service, owner, ownDomain(owner, 'inherited'))),
    form: { handle: await handleOf(service, { apiKey: owner.apiKey, phone: PHONE }) },
  }),
  getDomainDnssec: (service, owner) => registerDomain(service, owner, 'signed-or-not.net'),
  enableDomainDnssec: async (service, owner) => ({
    ...(await registerDomain(service, owner, 'signed-elsewhere.net', { ns1: 'ns1.reseller-dns.example', ns2: 'ns2.reseller-dns.example' })),
    form: { ds_records: DS_RECORD },
  }),
  disableDomainDnssec: async (service, owner) => {
    const sent = await registerDomain(service, owner, 'unsigned.net');
    await service.runScheduledJobs();
    await service.call('enableDomainDnssec', { ...sent, apiKey: owner.apiKey });
    return sent;
  },
  setDomainTransferLock: async (service, owner) => ({
    ...(await registerDomain(service, owner, 'locked.net')),
    form: { transfer_lock: true },
  }),
  requestDomainAuthcode: (service, owner) => registerDomain(service, owner, 'given-away.net'),
  undeleteDomain: async (service, owner) => {
    const sent = await registerDomain(service, owner, 'cancelled.net');
    await service.domains.terminate(sent.path.domain);
    return sent;
  },
  editDomainDns: async (service, owner) => ({
    ...(await registerDomain(service, owner, 'edited.net')),
    form: { type: 'TXT', sub: 'www', data: 'v=spf1 -all' },
  }),
  getDedicatedOffer: offerServer,
  purchaseDedicatedServer: async (service, owner) => ({ ...(await offerServer(service, owner)), form: { max_price: '59.00' } }),
  quotePurchaseDedicatedServer: async (service, owner) => ({ ...(await offerServer(service, owner)), form: { max_price: '59.00' } }),
  quoteUndeleteDedicatedServer: async (service, owner) => {
    const { path } = await offerServer(service, owner);
    const sent = await deployServer(service, owner, path.identifier);
    await service.call('deleteDedicatedServer', { ...sent, apiKey: owner.apiKey });
    return sent;
  },
  quoteRegisterDomain: async (service, { apiKey }) => ({
    form: { ...TRANSFER, handle: await handleOf(service, { apiKey, phone: PHONE }) },
  }),
  quoteUndeleteDomain: async (service, owner) => {
    const sent = await registerDomain(service, owner, 'cancelled-too.net');
    await service.domains.terminate(sent.path.domain);
    return sent;
  },
  checkDomain: (service, owner) => registerDomain(service, owner, 'checked.net'),
  deleteDomain: (service, owner) => registerDomain(service, owner, 'given-up.net'),
  listDomainDns: (service, owner) => registerDomain(service, owner, 'listed.net'),
  addDomainDns: async (service, owner) => ({
    ...(await registerDomain(service, owner, 'extended.net')),
    form: { type: 'TXT', sub: 'www', data: 'v=spf1 -all', ttl: 300 },
  }),
  editDomainDnsRecord: async (service, owner) => ({
    ...(await addRecord(service, owner, 'amended')),
    form: { type: 'TXT', sub: 'mail', data: 'v=spf1 mx -all', ttl: 300 },
  }),
  removeDomainDns: (service, owner) => addRecord(service, owner, 'reduced'),
  createHandle: async () => ({ form: { ...PERSON, phone: PHONE } }),
  getHandle: async (service, { apiKey }) => ({ path: { handle: await handleOf(service, { apiKey }) } }),
  getInvoice: async (service, owner) => {
    await registerDomain(service, owner, 'invoiced.net');
    // The next month has no 31st day, so it has the same renewals as this one.
    service.clock.advanceTo('2026-12-01T00:00:00Z');
    const { body } = await service.call('listInvoices', { apiKey: owner.apiKey });
    return { path: { invoiceID: String(Object.keys(body.data)[0]) } };
  },
  listRequests: async () => ({ form: { offset: 1 } }),
  rotateKey: async (service, owner) => ({ ...(await issueKeyFor(service, owner)), form: { overlap_seconds: 3_600 } }),
  revokeKey: issueKeyFor,
  listEvents: async () => ({ form: { cursor: '0', limit: 10, type: 'vm.created' } }),
  addWebhook: async () => ({ form: EVERY_WEBHOOK_FIELD }),
  editWebhook: async (service, owner) => ({
    path: await webhookOf(service, owner),
    form: { url: 'https://panel.reseller-customer.invalid/new', description: 'new panel', events: 'invoice.paid', enabled: false },
  }),
  removeWebhook: async (service, owner) => ({ path: await webhookOf(service, owner) }),
  rotateWebhookSecret: async (service, owner) => ({ path: await webhookOf(service, owner) }),
  testWebhook: async (service, owner) => ({ path: await webhookOf(service, owner) }),
  listWebhookDeliveries: async (service, owner) => ({
    path: await webhookOf(service, owner),
    form: { cursor: '10', limit: 10, status: 'pending' },
  }),
  replayWebhookDelivery: async (service, owner) => ({ path: await deliveredTo(service, owner) }),
  replayWebhook: async (service, owner) => {
    await buyVm(service, owner);
    const path = await webhookOf(service, owner);
    return { path, form: { since: '2026-11-01T00:00:00.000Z' } };
  },
};

const EVERY_WEBHOOK_FIELD = {
  url: 'https://panel.reseller-customer.invalid/webhooks',
  description: 'billing panel',
  events: 'vm.created,invoice.paid',
  enabled: true,
};

async function webhookOf(service: TestService, { apiKey }: Owner): Promise<{ readonly webhook_id: string }> {
  const { webhook_id } = await addConfirmed(service, EVERY_WEBHOOK_FIELD, apiKey);
  return { webhook_id };
}

/** A delivery that has ended. */
async function deliveredTo(service: TestService, owner: Owner): Promise<{ readonly webhook_id: string; readonly delivery_id: string }> {
  const path = await webhookOf(service, owner);
  const { body } = await service.call('testWebhook', { path, apiKey: owner.apiKey });
  await service.store.commit(({ db }) => db.updateTable('webhook_deliveries').set({ state: 'delivered' }).execute());
  return { ...path, delivery_id: String(body.data.delivery_id) };
}

/** A valid call of an operation for an account, with the key of the account. */
export async function goodCall(service: TestService, id: OperationId, owner: Owner): Promise<Sent> {
  const prepare = goodCalls[id];
  const api = apiOf(id);
  if (prepare === undefined && (pathParametersOf(api).length > 0 || api.operation.body !== undefined))
    throw new Error(`${id} has a path parameter or a body. Add a successful call of it to goodCalls.`);
  return { ...(await prepare?.(service, owner)), apiKey: owner.apiKey };
}

async function issueKeyFor({ store, ports }: TestService, { id: accountId }: Owner) {
  const { id } = await store.commit(({ db }) => issueKey(db, ports, accountId, { label: 'other', mode: 'sandbox' }));
  return { path: { key_id: id } };
}

async function buyVm(
  service: TestService,
  { apiKey }: Owner,
  form: Readonly<Record<string, unknown>> = SMALL_VM,
): Promise<{ readonly path: { readonly vmid: string } }> {
  const { body } = await service.call('createVm', { form, apiKey });
  return { path: { vmid: String(body.data.identifier) } };
}

async function purchaseOfIps(service: TestService, owner: Owner): Promise<Sent> {
  const { vmid } = (await buyVm(service, owner)).path;
  return { form: { vmid, count: 1, allowFallbackIPs: true, max_price: '1000.00' } };
}

/** A move of an additional address of one VM to another one. */
async function moveOfIp(service: TestService, owner: Owner) {
  const { path } = await buyVm(service, owner, { ...SMALL_VM, ips: 2 });
  const { vmid } = (await buyVm(service, owner)).path;
  return { path: { ip_address: await addressOf(service, path, owner, 1) }, form: { vmid, max_price: '1000.00' } };
}

/** A VM with a backup. */
async function backUp(service: TestService, owner: Owner): Promise<{ readonly vmid: string; readonly backup_id: string }> {
  const { path } = await buyVm(service, owner);
  const { body } = await service.call('createVmBackup', { path, form: {}, apiKey: owner.apiKey });
  return { ...path, backup_id: body.data.backup_id };
}

/** An IPv4 address of a VM. */
async function addressOf(service: TestService, path: { readonly vmid: string }, { apiKey }: Owner, place = 0): Promise<string> {
  return (await service.call('getVmConfig', { path, apiKey })).body.data.config.ipv4[place].ip_address;
}

/** An SSH key of the account, stored if it has none. */
async function storedKeyOf(service: TestService, apiKey: string): Promise<string> {
  const ssh_key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHOB+OzUR5cLV1Zy+fP4QC+uGb05St2ALWw9swWZMaWy spare';
  const [stored] = (await service.call('listSshKeys', { apiKey })).body.data.list;
  if (stored) return stored.ssh_key_id;
  return (await service.call('addSshKey', { form: { ssh_key }, apiKey })).body.data.ssh_key_id;
}

async function deployServer(
  service: TestService,
  owner: Owner,
  identifier: string,
): Promise<{ readonly path: { readonly identifier: string } }> {
  await orderServer(service, identifier, owner.id);
  await completeSetUp(service, identifier);
  return { path: { identifier } };
}

/** An offer for this account only. */
async function offerServer(
  { store, ports }: TestService,
  { id: offeredTo }: Owner,
): Promise<{ readonly path: { readonly identifier: string } }> {
  const { identifier: _sample, ...server } = sandboxMarket[2] ?? fail();
  const offeredIps = { ipv4: 1, ipv6: 1 };
  const offer = { ...server, ipv4: [], ipv6: [], offeredIps, offeredTo };
  return { path: { identifier: await store.commit(({ db }) => addMarketServer(db, ports, offer)) } };
}

function fail(): never {
  throw new Error('The market of the sandbox has fewer servers than the tests need.');
}

async function renewalOf(service: TestService, owner: Owner, name: string) {
  const sent = await registerDomain(service, owner, name);
  const { expire } = (await service.call('getDomain', { ...sent, apiKey: owner.apiKey })).body.data.timings;
  return { ...sent, form: { expire, max_price: '99.00' } };
}

async function registerDomain(
  service: TestService,
  owner: Owner,
  domain: string,
  nameservers: object = {},
): Promise<{ readonly path: { readonly domain: string } }> {
  await register(service, domain, owner.apiKey, nameservers);
  return { path: { domain } };
}

/** The name of a domain that each owner can have. */
function ownDomain({ id }: Owner, name: string): string {
  return `${name}-${id.slice(-12)}.net`;
}

/** A domain with a DNS record. */
async function addRecord(
  service: TestService,
  owner: Owner,
  name: string,
): Promise<{ readonly path: { readonly domain: string; readonly record_id: string } }> {
  const { path } = await registerDomain(service, owner, ownDomain(owner, name));
  const form = { type: 'TXT', sub: 'www', data: 'v=spf1 -all' };
  const { body } = await service.call('addDomainDns', { path, form, apiKey: owner.apiKey });
  return { path: { ...path, record_id: body.data.record_id } };
}
