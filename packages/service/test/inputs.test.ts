/**
 * Each field that a reseller can send has an effect that a response shows. The fields come from the document, so that a new one is covered or
 * fails.
 */
import { createHash } from 'node:crypto';

import { expect, test } from 'vitest';

import { addIpPool } from '../src/index.ts';
import type { OperationId } from '../src/reseller/operation.ts';
import { keyDetailsOf } from '../src/rules/ssh-key.ts';
import { goodCall } from './good-calls.ts';
import type { Owner } from './good-calls.ts';
import { sharedService, SMALL_VM, startService } from './harness.ts';
import type { TestService } from './harness.ts';
import type { Received, Sent } from './http-client.ts';
import { apiOf, withForm } from './operations.ts';

/** Data of a response. */
type Data = Received['body'];

const started = sharedService();

/** A call of an operation with all its fields, and the data of its response. The effects of all its fields are checked after the same call. */
interface Made {
  readonly service: TestService;
  readonly owner: Owner;
  readonly sent: Sent;
  readonly data: Data;
}

/** Checks the effect of one field, with its value in the call. */
type Effect = (made: Made, value: unknown) => unknown;

/** The field has the value in the response to another operation. */
function shownBy(id: OperationId, find: (data: Data) => unknown, path: (made: Made) => Sent['path'] = ({ sent }) => sent.path): Effect {
  return async (made, value) => {
    const { status, body } = await made.service.call(id, { path: path(made) ?? {}, apiKey: made.owner.apiKey });
    expect({ status, message: body.message }).toMatchObject({ status: 200 });
    expect(String(find(body.data))).toBe(String(value));
  };
}

/** With other values of fields, the same call is refused, and the message has the word. */
function refusedWith(id: OperationId, fields: object, expected: { readonly status: number; readonly word: string }): Effect {
  return async () => {
    const service = await startService();
    const owner = await service.account();
    const sent = await goodCall(service, id, owner);
    const { status, body } = await service.call(id, { ...sent, form: { ...sent.form, ...fields } });
    expect({ status, message: body.message }).toEqual({ status: expected.status, message: expect.stringContaining(expected.word) });
  };
}

const guardsPrice = (id: OperationId): Effect => refusedWith(id, { max_price: '0.01' }, { status: 412, word: 'max_price' });

const bought = ({ data }: Made) => ({ vmid: String(data.identifier) });
const configured = (find: (config: Data) => unknown, path?: (made: Made) => Sent['path']) =>
  shownBy('getVmConfig', ({ config }) => find(config), path);
const labelText = (labels: object) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join();

/** The resources of a VM. */
function resources(path?: (made: Made) => Sent['path']): Record<string, Effect> {
  const names = ['cores', 'mem', 'disk', 'storage', 'ips', 'backup_slots', 'network_speed'];
  return Object.fromEntries(names.map((name) => [name, configured((config) => config[name], path)]));
}

let ownNetworks = 0;

/** The account's own network has one address, so a second one shows whether others may be used. */
const usesOtherNetworks: Effect = async ({ service }) => {
  const { id, apiKey } = await service.account();
  const own = { id: `own-${id}`, datacenter: 'AMS1', accountId: id, cidr: `100.127.${ownNetworks++}.0/30`, ddosProtection: 'none' };
  await service.store.commit(({ db }) => addIpPool(db, own));
  const buy = async (allowFallbackIPs: boolean) =>
    (await service.call('createVm', { form: { ...SMALL_VM, ips: 2, allowFallbackIPs }, apiKey })).status;
  expect([await buy(false), await buy(true)]).toEqual([409, 200]);
};

const SPARE_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHOB+OzUR5cLV1Zy+fP4QC+uGb05St2ALWw9swWZMaWy spare';

/** A stored key becomes that of the VM. */
function usesStoredKey(id: 'createVm' | 'reinstallVm' | 'resetVmPassword'): Effect {
  return async ({ service }) => {
    const owner = await service.account();
    const { ssh_key_id } = (await service.call('addSshKey', { form: { ssh_key: SPARE_KEY }, apiKey: owner.apiKey })).body.data;
    const { form: { ssh_key: _, ssh_key_displayname: __, ...form } = {}, ...sent } = await goodCall(service, id, owner);
    const { status, body } = await service.call(id, { ...sent, form: { ...form, ssh_key_id } });
    expect(status).toBe(200);
    const path = sent.path ?? { vmid: String(body.data.identifier) };
    expect((await service.call('getVmConfig', { path, apiKey: owner.apiKey })).body.data.config.ssh_key).toEqual({
      displayname: 'spare',
      fingerprint: keyDetailsOf(SPARE_KEY).fingerprint,
    });
  };
}

/** No response shows user data, but its hash. */
function hashesUserData(path?: (made: Made) => Sent['path']): Effect {
  const shown = configured(({ user_data_sha256 }) => user_data_sha256, path);
  return (made, value) => shown(made, createHash('sha256').update(String(value)).digest('hex'));
}

const recordOf = (made: Made) => (list: Data) =>
  list.find(({ record_id }: Data) => record_id === (made.data?.record_id ?? made.sent.path?.['record_id'] ?? list[0].record_id));

/** A field of a DNS record in the list of the records of its domain. */
function inRecord(find: (record: Data, domain: string) => unknown): Effect {
  return (made, value) => shownBy('listDomainDns', (list) => find(recordOf(made)(list), String(made.sent.path?.['domain'])))(made, value);
}

const DNS_RECORD: Record<string, Effect> = {
  type: inRecord(({ type }) => type),
  sub: inRecord(({ name }, domain) => name.slice(0, -domain.length - 1)),
  data: inRecord(({ data }) => data),
};

const nameserver = (name: string, path?: (made: Made) => Sent['path']) =>
  shownBy('getDomain', ({ nameserver: names }) => names[name], path);
const registered = ({ data }: Made) => ({ domain: data.domain.name });

const WEBHOOK: Record<string, Effect> = {
  url: shownBy('listWebhooks', ({ list: [{ url }] }) => url),
  description: shownBy('listWebhooks', ({ list: [{ description }] }) => description),
  events: shownBy('listWebhooks', ({ list: [{ events }] }) => events.join(',')),
  enabled: shownBy('listWebhooks', ({ list: [{ enabled }] }) => enabled),
};

/** Two events, of which a field leaves some. */
function eventsWith(fields: (first: Data) => Readonly<Record<string, unknown>>, left: readonly string[]): Effect {
  return async ({ service }) => {
    const { apiKey } = await service.account();
    const { data } = (await service.call('createVm', { form: SMALL_VM, apiKey })).body;
    await service.call('setVmPower', { path: { vmid: String(data.identifier) }, form: { mode: 'stop' }, apiKey });
    const first = (await service.call('listEvents', { form: { limit: 1 }, apiKey })).body.data;
    const { body } = await service.call('listEvents', { form: fields(first), apiKey });
    expect(body.data.events.map(({ type }: Data) => type)).toEqual(left);
  };
}

/** Two deliveries, of which a field leaves some. */
function deliveriesFrom(form: Readonly<Record<string, unknown>>, left: readonly number[]): Effect {
  return async ({ service }) => {
    const { path = {}, apiKey = '' } = await goodCall(service, 'listWebhookDeliveries', await service.account());
    for (let count = 0; count < 2; count++) await service.call('testWebhook', { path, apiKey });
    const { body } = await service.call('listWebhookDeliveries', { path, form, apiKey });
    expect(body.data.deliveries.map(({ delivery_id }: Data) => delivery_id)).toEqual(left);
  };
}

/** The effect of each field. A quote takes the form of its purchase, whose effects are tested. */
const EFFECTS: Readonly<Partial<Record<OperationId, Readonly<Record<string, Effect>> | { readonly sameAs: OperationId }>>> = {
  createVm: {
    ...resources(bought),
    os: configured(({ os }) => os.name, bought),
    hostsystem: shownBy('getVmConfig', ({ hostsystem }) => hostsystem.name, bought),
    hostname: configured(({ hostname }) => hostname, bought),
    name: configured(({ name }) => name, bought),
    labels: configured(({ labels }) => labelText(labels), bought),
    ssh_key: (made, value) => configured(({ ssh_key }) => ssh_key.fingerprint, bought)(made, keyDetailsOf(String(value)).fingerprint),
    ssh_key_displayname: configured(({ ssh_key }) => ssh_key.displayname, bought),
    ssh_key_id: usesStoredKey('createVm'),
    user_data: hashesUserData(bought),
    allowFallbackIPs: usesOtherNetworks,
    default_ptr: shownBy('listVmRdns', ({ list: [{ domain }] }) => domain, bought),
    max_price: guardsPrice('createVm'),
  },
  quoteCreateVm: { sameAs: 'createVm' },
  reinstallVm: { os: configured(({ os }) => os.name), ssh_key_id: usesStoredKey('reinstallVm'), user_data: hashesUserData() },
  attachVmIso: { iso: configured(({ iso }) => iso.name) },
  setVmMonitoring: {
    enabled: shownBy('getVmConfig', ({ monitoring }) => monitoring.enabled),
    port: shownBy('getVmConfig', ({ monitoring }) => monitoring.port),
  },
  submitVmAbuseStatement: { statement: shownBy('getVmConfig', ({ abuse_statement }) => abuse_statement) },
  resetVmPassword: { ssh_key_id: usesStoredKey('resetVmPassword') },
  changeVm: { ...resources(), allowFallbackIPs: usesOtherNetworks, max_price: guardsPrice('changeVm') },
  quoteChangeVm: { sameAs: 'changeVm' },
  editVm: {
    name: configured(({ name }) => name),
    hostname: configured(({ hostname }) => hostname),
    labels: configured(({ labels }) => labelText(labels)),
  },
  setVmPower: { mode: (made) => shownBy('getVmStatus', ({ status }) => status)(made, 'stopped') },
  searchVms: {
    labels: async ({ service, owner }) => {
      const [form, other] = [
        { ...SMALL_VM, labels: 'env=production' },
        { ...SMALL_VM, labels: 'env=test' },
      ];
      const { data } = (await service.call('createVm', { form, apiKey: owner.apiKey })).body;
      await service.call('createVm', { form: other, apiKey: owner.apiKey });
      const found = await service.call('searchVms', { form: { labels: 'env=production' }, apiKey: owner.apiKey });
      expect(found.body.data.list.map(({ vmid }: { vmid: number }) => vmid)).toEqual([data.identifier]);
    },
  },
  addSshKey: {
    ssh_key: shownBy('listSshKeys', ({ list: [key] }) => key.ssh_key),
    displayname: shownBy('listSshKeys', ({ list: [key] }) => key.displayname),
  },
  createVmBackup: { description: shownBy('listVmBackups', ({ list: [backup] }) => backup.description) },
  restoreVmBackup: {
    backup_id: refusedWith('restoreVmBackup', { backup_id: '01900000-0000-7000-8000-00000000bbbb' }, { status: 404, word: 'backup' }),
  },
  setVmBackupSchedule: { interval: shownBy('listVmBackups', ({ schedule }) => schedule) },
  setVmRdns: {
    domain: shownBy('listVmRdns', ({ list: [{ domain }] }) => domain),
    ip_address: shownBy('listVmRdns', ({ list: [{ ip_address }] }) => ip_address),
  },
  buyIps: {
    vmid: shownBy('listIps', ({ list: [{ vmid }] }) => vmid),
    count: shownBy('listIps', ({ list }) => list.filter(({ first }: Data) => !first).length),
    allowFallbackIPs: usesOtherNetworks,
    max_price: guardsPrice('buyIps'),
  },
  quoteBuyIps: { sameAs: 'buyIps' },
  assignIp: {
    async vmid(made, value) {
      await made.service.runScheduledJobs();
      await shownBy('listIps', ({ list }) => list.find(({ first }: Data) => !first).vmid)(made, value);
    },
    max_price: guardsPrice('assignIp'),
  },
  quoteAssignIp: { sameAs: 'assignIp' },
  releaseIp: { max_price: guardsPrice('releaseIp') },
  purchaseDedicatedServer: { max_price: guardsPrice('purchaseDedicatedServer') },
  quotePurchaseDedicatedServer: { sameAs: 'purchaseDedicatedServer' },
  registerDomain: {
    domain: shownBy('getDomain', ({ domain }) => domain.name, registered),
    handle: shownBy('getDomain', ({ handle }) => handle.ownerC, registered),
    authcode: refusedWith('registerDomain', { authcode: 'wrong' }, { status: 422, word: 'authcode' }),
    ns1: nameserver('ns1', registered),
    ns2: nameserver('ns2', registered),
    max_price: guardsPrice('registerDomain'),
  },
  quoteRegisterDomain: { sameAs: 'registerDomain' },
  setDomainNameservers: Object.fromEntries(['ns1', 'ns2', 'ns3', 'ns4', 'ns5'].map((name) => [name, nameserver(name)])),
  renewDomain: {
    expire: refusedWith('renewDomain', { expire: '2001-01-01' }, { status: 409, word: 'expires' }),
    max_price: guardsPrice('renewDomain'),
  },
  quoteRenewDomain: { sameAs: 'renewDomain' },
  setDomainHandle: { handle: shownBy('getDomain', ({ handle }) => handle.ownerC) },
  enableDomainDnssec: {
    ds_records: shownBy('getDomainDnssec', ({ ds_records: [{ key_tag, algorithm, digest_type, digest }] }) =>
      [key_tag, algorithm, digest_type, digest].join(' '),
    ),
  },
  setDomainTransferLock: { transfer_lock: shownBy('getDomain', ({ domain }) => domain.transfer_lock) },
  editDomainDns: DNS_RECORD,
  addDomainDns: { ...DNS_RECORD, ttl: inRecord(({ ttl }) => ttl) },
  editDomainDnsRecord: { ...DNS_RECORD, ttl: inRecord(({ ttl }) => ttl) },
  createHandle: Object.fromEntries(
    ['gender', 'firstname', 'lastname', 'street', 'number', 'zipcode', 'city', 'region', 'countrycode', 'email', 'phone'].map((name) => [
      name,
      shownBy(
        'getHandle',
        (handle) => handle[name],
        ({ data }) => ({ handle: data.handle }),
      ),
    ]),
  ),
  listRequests: {
    offset: async ({ service, owner: { apiKey } }) => {
      const listed = async (offset: number): Promise<unknown> =>
        (await service.call('listRequests', { form: { offset }, apiKey })).body.data;
      await service.call('listVms', { apiKey });
      const before = await listed(1);
      // The first request that it lists is the one above, which the offset skips.
      expect(await listed(2)).toEqual(before);
    },
  },
  listEvents: {
    cursor: eventsWith(({ next_cursor }) => ({ cursor: next_cursor }), ['vm.stopped']),
    limit: eventsWith(() => ({ limit: 1 }), ['vm.created']),
    type: eventsWith(() => ({ type: 'vm.stopped' }), ['vm.stopped']),
  },
  addWebhook: WEBHOOK,
  editWebhook: WEBHOOK,
  listWebhookDeliveries: {
    cursor: deliveriesFrom({ cursor: '2' }, [1]),
    limit: deliveriesFrom({ limit: 1 }, [2]),
    status: deliveriesFrom({ status: 'failed' }, []),
  },
  replayWebhook: {
    since: async ({ service, owner, sent, data }) => {
      expect(data.replayed).toBe(1);
      // The first replay ends in a round. Until then, another one is refused.
      await service.runScheduledJobs();
      service.clock.advance(1_000);
      const form = { since: new Date(service.clock.now()).toISOString() };
      const { body } = await service.call('replayWebhook', { ...sent, form, apiKey: owner.apiKey });
      expect(body.data.replayed).toBe(0);
    },
  },
  rotateKey: {
    overlap_seconds: async ({ service, owner, sent, data }, value) => {
      const { list } = (await service.call('listKeys', { apiKey: owner.apiKey })).body.data;
      const { valid_until } = list.find(({ key_id }: { key_id: string }) => key_id === sent.path?.['key_id']);
      expect([valid_until, data.replaced_valid_until]).toEqual(
        Array(2).fill(new Date(service.clock.now() + Number(value) * 1_000).toISOString()),
      );
    },
  },
};

const fieldsOf = (id: OperationId) => [...(apiOf(id).operation.form?.fields.keys() ?? [])];

test.each(withForm)('%s: each field has an effect that a response shows', async (id) => {
  const effects = EFFECTS[id];
  if (effects === undefined) throw new Error(`The form of ${id} is new: name here the operations that show the effects of its fields.`);
  if ('sameAs' in effects && typeof effects.sameAs === 'string') return expect(fieldsOf(id)).toEqual(fieldsOf(effects.sameAs));
  expect(Object.keys(effects).toSorted()).toEqual(fieldsOf(id).toSorted());
  const service = await started();
  const owner = await service.account();
  const sent = await goodCall(service, id, owner);
  const { status, body } = await service.call(id, sent);
  expect({ status, message: body.message }).toMatchObject({ status: 200 });
  for (const [field, effect] of Object.entries(effects)) await effect({ service, owner, sent, data: body.data }, sent.form?.[field]);
});
