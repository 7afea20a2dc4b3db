/** The examples of the reseller document, sent to a sandbox with its sample data as a reader who copies them does. */
import { expect, test } from 'vitest';

import { issueKey } from '../src/core/account/account.ts';
import { restrictKey } from '../src/core/account/api-key.ts';
import { apiOperations } from '../src/http/reseller/api.ts';
import { DEMO_ACCOUNT, issueApiKey } from '../src/index.ts';
import type { VmOrder } from '../src/index.ts';
import type { OperationId } from '../src/reseller/operation.ts';
import { sampleIdentifiers } from '../src/sandbox/sample-identifiers.ts';
import { raiseCorePrice } from './core-price.ts';
import { pauseRegistrar, PERSON, untilReserved, DS_RECORD } from './domains.ts';
import { SMALL_VM, startService } from './harness.ts';
import type { TestService } from './harness.ts';
import type { Received, Sent } from './http-client.ts';
import { insertMany } from './insert-many.ts';
import { apiOf } from './operations.ts';

/** The machine of the sample VM. */
const SAMPLE_MACHINE: VmOrder = {
  vmId: sampleIdentifiers.vm,
  node: 'nl-ryzen-01',
  cores: 2,
  mem: 4096,
  disk: 40,
  storage: null,
  networkSpeed: 1000,
  backupSlots: 2,
  ipv4: [],
  ipv6: [],
  os: 'debian_12',
  hostname: 'KVM',
  username: 'root',
  password: '',
  sshKey: null,
  userData: null,
};

interface Sandbox extends TestService {
  /** Calls an operation for the demo account, with the identifiers of the document's examples unless others are given. */
  copy(id: OperationId, sent?: Sent): Promise<Received>;
}

async function startSandbox(): Promise<Sandbox> {
  const service = await startService({ hasDemo: true });
  const { store, ports, registrar } = service;
  const apiKey = await store.commit(({ db }) => issueApiKey(db, ports, DEMO_ACCOUNT, { label: 'test', mode: 'sandbox' }));
  // The registrar of the tests remembers domains; that of a sandbox does not need to.
  // So does the hypervisor with backups.
  service.hypervisor.copies.set(sampleIdentifiers.vm, new Map([[sampleIdentifiers.backup, SAMPLE_MACHINE]]));
  for (const name of [sampleIdentifiers.domain, sampleIdentifiers.cancelledDomain]) {
    registrar.domains.set(name, {
      contact: { ...PERSON, handle: sampleIdentifiers.handle, organisation: null, phone: null },
      nameservers: [],
      authcode: null,
      renewed: true,
      transferLock: false,
      dsRecords: [],
    });
    service.dns.zones.set(name, { name, nameservers: [], records: [] });
  }
  // The sample VM has one address, so a reader first buys the VM whose additional address the examples move.
  await service.call('createVm', { form: { ...SMALL_VM, ips: 2 }, apiKey });
  return { ...service, copy: (id, sent = {}) => service.call(id, { path: examplePath(id), apiKey, ...sent }) };
}

function examplePath(id: OperationId): Record<string, string> {
  const parameters = apiOf(id).operation.parameters.filter((parameter) => parameter.in === 'path');
  return Object.fromEntries(parameters.map(({ name, examples: [example] }) => [name, String(example)]));
}

/** Each operation with each example of its form, or once if it has no form. */
const requests = apiOperations.flatMap(({ id, operation: { form } }): [OperationId, string, Sent][] =>
  form ? Object.entries(form.examples).map(([name, { value }]) => [id, name, { form: Object(value) }]) : [[id, 'without a form', {}]],
);

/** The preparation that an example needs beyond the sample data. */
const BEFORE: Readonly<Partial<Record<OperationId, (sandbox: Sandbox) => Promise<unknown>>>> = {
  submitVmAbuseStatement: (sandbox) => setAbuse(sandbox, 'STATEMENT_EXPECTED'),
};

function whileBlocked(id: OperationId, sent: Sent = {}) {
  return async (sandbox: Sandbox) => {
    await setAbuse(sandbox, 'BLOCKED');
    return sandbox.copy(id, sent);
  };
}

function setAbuse({ store }: Sandbox, abuse_status: string): Promise<unknown> {
  return store.commit(({ db }) =>
    db.updateTable('vms').set({ abuse_status, abuse_reason: 'Unwanted mail goes on, complaint 2026-118' }).execute(),
  );
}

const isRead = ([id]: (typeof requests)[number]): boolean => apiOf(id).operation.readOnly;

test.for(requests.filter((one) => !isRead(one)))('%s: the example request %s succeeds in a new sandbox', async ([id, , sent]) => {
  const sandbox = await startSandbox();
  await BEFORE[id]?.(sandbox);
  const { status, body } = await sandbox.copy(id, sent);
  expect({ status, message: body.message }).toMatchObject({ status: 200 });
});

test('the example requests that only read succeed in a new sandbox', async () => {
  const sandbox = await startSandbox();
  for (const [id, name, sent] of requests.filter(isRead)) {
    const { status, body } = await sandbox.copy(id, sent);
    expect.soft({ status, message: body.message }, `${id}: ${name}`).toMatchObject({ status: 200 });
  }
});

test('the example identifiers of paths are in the lists of a new sandbox', async () => {
  const sandbox = await startSandbox();
  expect((await sandbox.copy('listDomains')).body.data.list).toContain(examplePath('getDomain')['domain']);
  expect(Object.keys((await sandbox.copy('listInvoices')).body.data)).toContain(examplePath('getInvoice')['invoiceID']);
  expect(Object.keys((await sandbox.copy('getCurrentInvoice')).body.data.positions.vms)).toContain(examplePath('reinstallVm')['vmid']);
  const servers = (await sandbox.copy('listDedicatedServers')).body.data.list.map(({ identifier }: { identifier: string }) => identifier);
  expect(servers).toContain(examplePath('getDedicatedServer')['identifier']);
  expect(servers).toContain(examplePath('undeleteDedicatedServer')['identifier']);
});

const SAMPLE_KEY = { ssh_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBKJYnCjhCwOsLjSbGdh6VfHpe0vJCkhDKLgHpVxkmVv' };
const PERSON_FORM = { ...PERSON };
const PROJECT = { domain: 'reseller-project.net', handle: sampleIdentifiers.handle };

/** Prepares the sandbox and sends the request that causes the example of an error. */
type Cause = (sandbox: Sandbox) => Promise<Received>;

/** A second change of the domain while the first one is in progress. */
const duringChange =
  (id: OperationId, sent: Sent = {}): Cause =>
  async (sandbox) => {
    const resume = pauseRegistrar(sandbox);
    const path = { domain: examplePath(id)['domain'] ?? '' };
    const first = sandbox.copy('setDomainNameservers', { path, form: { ns1: 'default', ns2: 'default' } });
    await untilReserved(sandbox);
    const refused = await sandbox.copy(id, sent);
    resume();
    await first;
    return refused;
  };

const sending =
  (id: OperationId, sent: Sent): Cause =>
  (sandbox) =>
    sandbox.copy(id, sent);

const OWN_NAMESERVERS = { ns1: 'ns1.reseller-dns.example', ns2: 'ns2.reseller-dns.example' };

/** A request about a domain with DNSSEC, to a service whose registrar takes DS records no longer. */
const withoutDsRecords =
  (id: OperationId): Cause =>
  async (sandbox) => {
    await sandbox.copy('enableDomainDnssec');
    Object.assign(sandbox.registrar, { setDsRecords: undefined });
    return sandbox.copy(id);
  };

/** A request about a domain whose subdomain www has a CNAME. */
const afterCname =
  (id: OperationId, sent: Sent): Cause =>
  async (sandbox) => {
    await sandbox.copy('addDomainDns', { form: { type: 'CNAME', sub: 'www', data: 'web1.example.net' } });
    return sandbox.copy(id, sent);
  };

/** A second change of a VM while the first one is in progress. */
const duringVmChange =
  (id: OperationId, sent: Sent = {}): Cause =>
  async (sandbox) => {
    await sandbox.store.commit(({ db }) => db.updateTable('vms').set({ changing: 1 }).execute());
    return sandbox.copy(id, sent);
  };

/** The hypervisor cannot do it. */
const withoutPart =
  (part: 'backups' | 'console' | 'isos' | 'reaches', id: OperationId, sent: Sent = {}): Cause =>
  async (sandbox) => {
    Object.defineProperty(sandbox.hypervisor, part, { value: undefined });
    return sandbox.copy(id, sent);
  };

/** Leaves no room for more cores on any node. */
async function fillNodes({ store }: Sandbox): Promise<void> {
  await store.commit(({ db }) =>
    db
      .updateTable('host_nodes')
      .set((node) => ({ cores: node.ref('used_cores') }))
      .execute(),
  );
}

/** A request about a webhook that is disabled. */
const whileDisabled =
  (id: OperationId, sent: Sent = {}): Cause =>
  async (sandbox) => {
    await sandbox.copy('editWebhook', { form: { enabled: false } });
    return sandbox.copy(id, sent);
  };

async function toOtherDatacenter(sandbox: Sandbox, id: OperationId): Promise<Received> {
  const { body } = await sandbox.copy('createVm', { form: { ...SMALL_VM, hostsystem: 'de_epyc' } });
  return sandbox.copy(id, { form: { vmid: String(body.data.identifier) } });
}

const SAMPLE_VM = { vmid: String(sampleIdentifiers.vm) };
const FIRST_ADDRESS = { ip_address: '100.64.0.3' };

const CAUSES: Readonly<Record<string, Cause>> = {
  'createVm outOfCapacity': async (sandbox) => {
    await fillNodes(sandbox);
    return sandbox.copy('createVm', { form: SMALL_VM });
  },
  'rotateKey rotatedBefore': async (sandbox) => {
    await sandbox.copy('rotateKey');
    return sandbox.copy('rotateKey');
  },
  'addSshKey tooMany': async (sandbox) => {
    const { ssh_key: public_key } = ANOTHER_KEY;
    const { account_id } = await sandbox.store.read((db) => db.selectFrom('ssh_keys').select('account_id').executeTakeFirstOrThrow());
    const ids = Array.from({ length: 99 }, (_, number) => `key-${number}`);
    const keys = ids.map((id) => ({ id, account_id, displayname: id, public_key, fingerprint: id, created: 0 }));
    await sandbox.store.commit(({ db }) => db.insertInto('ssh_keys').values(keys).execute());
    return sandbox.copy('addSshKey', { form: ANOTHER_KEY });
  },
  'addWebhook tooMany': async (sandbox) => {
    const form = { url: 'https://panel.reseller-customer.invalid/' };
    for (let count = 1; count < 10; count++) await sandbox.copy('addWebhook', { form });
    return sandbox.copy('addWebhook', { form });
  },
  'testWebhook disabled': whileDisabled('testWebhook'),
  'replayWebhookDelivery disabled': whileDisabled('replayWebhookDelivery'),
  'replayWebhook disabled': whileDisabled('replayWebhook', { form: { since: '2026-11-01T00:00:00Z' } }),
  'replayWebhook tooMany': async (sandbox) => {
    const events = Array.from({ length: 10_001 }, (_, index) => ({
      id: `event-${index}`,
      account_id: DEMO_ACCOUNT,
      position: index + 10,
      type: 'account.resumed',
      subject: 'account',
      data: '{}',
      entered: sandbox.clock.now(),
    }));
    await sandbox.store.commit(({ db }) => insertMany(sandbox.store, db, 'events', events));
    return sandbox.copy('replayWebhook', { form: { since: '2026-11-01T00:00:00Z' } });
  },
  'createVmBackup noSlot': async (sandbox) => {
    await sandbox.copy('createVmBackup', { form: {} });
    return sandbox.copy('createVmBackup', { form: {} });
  },
  'setVmBackupSchedule noSlot': async (sandbox) => {
    for (let made = 0; made < 2; made++) await sandbox.copy('createVmBackup', { form: {} });
    return sandbox.copy('setVmBackupSchedule', { form: { interval: 'daily' } });
  },
  'setVmPower blocked': whileBlocked('setVmPower', { form: { mode: 'start' } }),
  'editVm blocked': whileBlocked('editVm', { form: { name: 'Shop' } }),
  'setVmRdns blocked': whileBlocked('setVmRdns', { form: { domain: 'mail.example.org' } }),
  'removeVmRdns blocked': whileBlocked('removeVmRdns'),
  'setVmMonitoring blocked': whileBlocked('setVmMonitoring', { form: { enabled: false, port: 80 } }),
  'createVmBackup notImplemented': withoutPart('backups', 'createVmBackup', { form: {} }),
  'restoreVmBackup notImplemented': withoutPart('backups', 'restoreVmBackup', { form: { backup_id: sampleIdentifiers.backup } }),
  'deleteVmBackup notImplemented': withoutPart('backups', 'deleteVmBackup'),
  'openVmConsole notImplemented': withoutPart('console', 'openVmConsole'),
  'createVmBackup changeInProgress': duringVmChange('createVmBackup', { form: {} }),
  'restoreVmBackup changeInProgress': duringVmChange('restoreVmBackup', { form: { backup_id: sampleIdentifiers.backup } }),
  'deleteVmBackup changeInProgress': duringVmChange('deleteVmBackup'),
  'deleteVmBackup unconfirmed': async (sandbox) => {
    sandbox.hypervisor.failing = new Error('The node is down.');
    return sandbox.copy('deleteVmBackup');
  },
  'setVmRdns tooMany': async (sandbox) => {
    const { vm: vm_id } = sampleIdentifiers;
    const { address: assigned } = await sandbox.store.read((db) =>
      db.selectFrom('ip_addresses').select('address').where('vm_id', '=', vm_id).where('family', '=', 6).executeTakeFirstOrThrow(),
    );
    const names = Array.from({ length: 100 }, (_, number) => assigned.replace('::/64', `::1:${number}`));
    const entries = names.map((address) => ({ address, assigned, vm_id, domain: 'mail.example.net', changed: 0 }));
    await sandbox.store.commit(({ db }) => db.insertInto('rdns_entries').values(entries).execute());
    return sandbox.copy('setVmRdns', { form: { domain: 'mail.example.net', ip_address: assigned.replace('::/64', '::2') } });
  },
  'rotateKey tooLong': sending('rotateKey', { form: { overlap_seconds: 2_592_001 } }),
  'openVmConsole stopped': async (sandbox) => {
    await sandbox.copy('setVmPower', { form: { mode: 'stop' } });
    return sandbox.copy('openVmConsole');
  },
  'setVmPower wrongState': async (sandbox) => {
    await sandbox.copy('setVmPower', { form: { mode: 'stop' } });
    return sandbox.copy('setVmPower', { form: { mode: 'restart' } });
  },
  'setVmPower stoppedByProvider': async (sandbox) => {
    await sandbox.vms.stop(sampleIdentifiers.vm);
    return sandbox.copy('setVmPower', { form: { mode: 'start' } });
  },
  'setVmPower creditLimit': async (sandbox) => {
    await sandbox.copy('setVmPower', { form: { mode: 'stop' } });
    await sandbox.store.commit(({ db }) => db.updateTable('accounts').set({ credit_limit: 0 }).execute());
    return sandbox.copy('setVmPower', { form: { mode: 'start' } });
  },
  'setVmPower unconfirmed': async (sandbox) => {
    sandbox.hypervisor.failing = new Error('The node is down.');
    return sandbox.copy('setVmPower', { form: { mode: 'stop' } });
  },
  'changeVm changeInProgress': duringVmChange('changeVm', { form: { cores: 4 } }),
  'changeVm outOfCapacity': async (sandbox) => {
    await fillNodes(sandbox);
    return sandbox.copy('changeVm', { form: { cores: 4 } });
  },
  'buyIps noneFree': async (sandbox) => {
    await sandbox.store.commit(({ db }) => db.deleteFrom('ip_addresses').where('vm_id', 'is', null).execute());
    return sandbox.copy('buyIps', { form: SAMPLE_VM });
  },
  'buyIps changeInProgress': duringVmChange('buyIps', { form: SAMPLE_VM }),
  'assignIp changeInProgress': duringVmChange('assignIp', { form: { ...SAMPLE_VM } }),
  'releaseIp changeInProgress': duringVmChange('releaseIp'),
  'releaseIp creditLimit': async (sandbox) => {
    await raiseCorePrice(sandbox, '9.00');
    await sandbox.store.commit(({ db }) => db.updateTable('accounts').set({ credit_limit: 0 }).execute());
    return sandbox.copy('releaseIp');
  },
  'assignIp otherDatacenter': (sandbox) => toOtherDatacenter(sandbox, 'assignIp'),
  'quoteAssignIp otherDatacenter': (sandbox) => toOtherDatacenter(sandbox, 'quoteAssignIp'),
  'deleteVm changeInProgress': duringVmChange('deleteVm'),
  'deleteVm unconfirmed': async (sandbox) => {
    sandbox.hypervisor.failingToRemove = new Error('The node is down.');
    return sandbox.copy('deleteVm');
  },
  'attachVmIso changeInProgress': duringVmChange('attachVmIso', { form: { iso: 'systemrescue_12' } }),
  'setVmMonitoring notImplemented': withoutPart('reaches', 'setVmMonitoring', { form: { enabled: true, port: 80 } }),
  'attachVmIso notImplemented': withoutPart('isos', 'attachVmIso', { form: { iso: 'systemrescue_12' } }),
  'detachVmIso changeInProgress': duringVmChange('detachVmIso'),
  'detachVmIso notImplemented': withoutPart('isos', 'detachVmIso'),
  'resetVmPassword stopped': async (sandbox) => {
    await sandbox.copy('setVmPower', { form: { mode: 'stop' } });
    return sandbox.copy('resetVmPassword');
  },
  'reinstallVm wrongState': async (sandbox) => {
    await sandbox.vms.stop(sampleIdentifiers.vm);
    return sandbox.copy('reinstallVm');
  },
  'undeleteDedicatedServer creditLimit': async (sandbox) => {
    // The renewal of the cancelled server is due in the open period.
    await sandbox.store.commit(async ({ db }) => {
      const due = Math.floor(sandbox.clock.now() / 1000) + 3_600;
      await db.updateTable('dedicated_servers').set({ due }).where('terminated', '=', 1).execute();
      await db.updateTable('accounts').set({ credit_limit: 0 }).execute();
    });
    return sandbox.copy('undeleteDedicatedServer', { path: examplePath('undeleteDedicatedServer') });
  },
  'undeleteDomain creditLimit': async (sandbox) => {
    await sandbox.store.commit(async ({ db }) => {
      const expires = Math.floor(sandbox.clock.now() / 1000) + 3_600;
      await db.updateTable('domains').set({ expires }).where('terminated', '=', 1).execute();
      await db.updateTable('accounts').set({ credit_limit: 0 }).execute();
    });
    return sandbox.copy('undeleteDomain', { path: examplePath('undeleteDomain') });
  },
  'deleteDedicatedServer beingSetUp': async (sandbox) => {
    const { list } = (await sandbox.copy('listDedicatedServers')).body.data;
    const { identifier } = list.find(({ deployed }: { deployed: boolean }) => !deployed);
    return sandbox.copy('deleteDedicatedServer', { path: { identifier } });
  },
  'setDomainNameservers changeInProgress': duringChange('setDomainNameservers', { form: { ns1: 'default', ns2: 'default' } }),
  'renewDomain changeInProgress': duringChange('renewDomain'),
  'renewDomain otherExpiry': sending('renewDomain', { form: { expire: '2001-01-01' } }),
  'renewDomain justRenewed': async (sandbox) => {
    await sandbox.copy('renewDomain', { form: {} });
    return sandbox.copy('renewDomain', { form: {} });
  },
  ...Object.fromEntries(
    (['renewDomain', 'quoteRenewDomain'] as const).map((id) => [
      `${id} tooFar`,
      async (sandbox: Sandbox) => {
        await sandbox.store.commit(({ db }) =>
          db
            .updateTable('domains')
            .set({ expires: Math.floor(Date.parse('2036-12-01') / 1000) })
            .execute(),
        );
        return sandbox.copy(id);
      },
    ]),
  ),
  'enableDomainDnssec changeInProgress': duringChange('enableDomainDnssec'),
  'disableDomainDnssec changeInProgress': duringChange('disableDomainDnssec'),
  'enableDomainDnssec nameserversChanged': async (sandbox) => {
    sandbox.clock.advanceTo('2026-11-27T12:00:00Z');
    await sandbox.copy('setDomainNameservers', { form: OWN_NAMESERVERS });
    return sandbox.copy('enableDomainDnssec', { form: { ds_records: DS_RECORD } });
  },
  'enableDomainDnssec notSigned': async (sandbox) => {
    sandbox.dns.zones.clear();
    return sandbox.copy('enableDomainDnssec');
  },
  'enableDomainDnssec noRecords': async (sandbox) => {
    await sandbox.copy('setDomainNameservers', { form: OWN_NAMESERVERS });
    return sandbox.copy('enableDomainDnssec');
  },
  'enableDomainDnssec twice': async (sandbox) => {
    await sandbox.copy('setDomainNameservers', { form: OWN_NAMESERVERS });
    return sandbox.copy('enableDomainDnssec', { form: { ds_records: `${DS_RECORD}, ${DS_RECORD}` } });
  },
  'enableDomainDnssec notImplemented': withoutDsRecords('enableDomainDnssec'),
  'disableDomainDnssec notImplemented': withoutDsRecords('disableDomainDnssec'),
  'setDomainHandle changeInProgress': duringChange('setDomainHandle', { form: { handle: sampleIdentifiers.handle } }),
  'setDomainTransferLock changeInProgress': duringChange('setDomainTransferLock', { form: { transfer_lock: true } }),
  'requestDomainAuthcode changeInProgress': duringChange('requestDomainAuthcode'),
  'undeleteDomain changeInProgress': duringChange('undeleteDomain'),
  'deleteDomain changeInProgress': duringChange('deleteDomain'),
  'deleteDomain unconfirmed': async (sandbox) => {
    sandbox.registrar.failing = new Error('The registry is down.');
    return sandbox.copy('deleteDomain');
  },
  'purchaseDedicatedServer sold': async (sandbox) => {
    await sandbox.copy('purchaseDedicatedServer');
    return sandbox.copy('purchaseDedicatedServer');
  },
  'quotePurchaseDedicatedServer sold': async (sandbox) => {
    await sandbox.copy('purchaseDedicatedServer');
    return sandbox.copy('quotePurchaseDedicatedServer');
  },
  'editDomainDns cnameConflict': afterCname('editDomainDns', { form: { type: 'A', sub: 'www', data: '198.51.100.23' } }),
  'addDomainDns cnameConflict': afterCname('addDomainDns', { form: { type: 'A', sub: 'www', data: '198.51.100.23' } }),
  'editDomainDnsRecord exists': async (sandbox) => {
    await sandbox.copy('addDomainDns', { form: { type: 'A', data: '198.51.100.99' } });
    return sandbox.copy('editDomainDnsRecord', { form: { data: '198.51.100.99' } });
  },
  'editDomainDnsRecord cnameConflict': afterCname('editDomainDnsRecord', { form: { sub: 'www' } }),
};

/** Causes that need no preparation. A refused request changes nothing, so they share a sandbox. */
const ANOTHER_KEY = {
  ssh_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHOB+OzUR5cLV1Zy+fP4QC+uGb05St2ALWw9swWZMaWy another',
};

const SINGLE_REQUESTS: Readonly<Record<string, Cause>> = {
  'createVm tooManyCores': sending('createVm', { form: { ...SMALL_VM, cores: 17 } }),
  'quoteCreateVm tooManyCores': sending('quoteCreateVm', { form: { ...SMALL_VM, cores: 17 } }),
  'quoteChangeVm tooManyCores': sending('quoteChangeVm', { form: { cores: 17 } }),
  'quoteChangeVm smallerDisk': sending('quoteChangeVm', { form: { disk: 20 } }),
  'quoteRegisterDomain unpricedTld': sending('quoteRegisterDomain', { form: { ...PROJECT, domain: 'reseller-project.zz' } }),
  'quoteUndeleteDomain notCancelled': sending('quoteUndeleteDomain', { path: examplePath('getDomain') }),
  'quotePurchaseDedicatedServer badPrice': sending('quotePurchaseDedicatedServer', { form: { max_price: '8,40' } }),
  'quoteUndeleteDedicatedServer notCancelled': sending('quoteUndeleteDedicatedServer', { path: examplePath('getDedicatedServer') }),
  'createVm priceTooHigh': sending('createVm', { form: { ...SMALL_VM, max_price: '8.40' } }),
  'editVm repeatedLabel': sending('editVm', { form: { labels: 'env=one,env=two' } }),
  'searchVms notASelector': sending('searchVms', { form: { labels: 'env==' } }),
  'addSshKey exists': sending('addSshKey', { form: SAMPLE_KEY }),
  'addSshKey notAKey': sending('addSshKey', { form: { ssh_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMvH' } }),
  'resetVmPassword unknownKey': sending('resetVmPassword', { form: { ssh_key_id: '01900000-0000-7000-8000-00000000cccc' } }),
  'submitVmAbuseStatement blank': sending('submitVmAbuseStatement', { form: { statement: ' ' } }),
  'submitVmAbuseStatement notExpected': sending('submitVmAbuseStatement', { form: { statement: 'We have removed it.' } }),
  'setVmMonitoring noPort': sending('setVmMonitoring', { form: { enabled: true, port: 65_536 } }),
  'attachVmIso unknownFile': sending('attachVmIso', { form: { iso: 'plan_9' } }),
  'setVmPower unknownMode': sending('setVmPower', { form: { mode: 'reset' } }),
  'createVmBackup tooLong': sending('createVmBackup', { form: { description: 'a'.repeat(101) } }),
  'restoreVmBackup noBackupId': sending('restoreVmBackup', { form: {} }),
  'setVmBackupSchedule unknownInterval': sending('setVmBackupSchedule', { form: { interval: 'hourly' } }),
  'setVmRdns unknownAddress': sending('setVmRdns', { form: { domain: 'mail.example.net', ip_address: '198.51.100.1' } }),
  'buyIps tooMany': sending('buyIps', { form: { ...SAMPLE_VM, count: 1000 } }),
  'buyIps unknownVm': sending('buyIps', { form: { vmid: '99999' } }),
  'buyIps priceTooHigh': sending('buyIps', { form: { ...SAMPLE_VM, max_price: '1.00' } }),
  'quoteBuyIps tooMany': sending('quoteBuyIps', { form: { ...SAMPLE_VM, count: 1000 } }),
  'quoteBuyIps unknownVm': sending('quoteBuyIps', { form: { vmid: '99999' } }),
  'assignIp firstAddress': sending('assignIp', { path: FIRST_ADDRESS, form: { ...SAMPLE_VM } }),
  'assignIp priceTooHigh': sending('assignIp', { form: { ...SAMPLE_VM, max_price: '1.00' } }),
  'quoteAssignIp firstAddress': sending('quoteAssignIp', { path: FIRST_ADDRESS, form: { ...SAMPLE_VM } }),
  'releaseIp badPrice': sending('releaseIp', { form: { max_price: '8,40' } }),
  'releaseIp priceTooHigh': sending('releaseIp', { form: { max_price: '1.00' } }),
  'releaseIp firstAddress': sending('releaseIp', { path: FIRST_ADDRESS }),
  'changeVm tooManyCores': sending('changeVm', { form: { cores: 17 } }),
  'changeVm smallerDisk': sending('changeVm', { form: { disk: 20 } }),
  'changeVm priceTooHigh': sending('changeVm', { form: { cores: 4, max_price: '8.40' } }),
  'reinstallVm unknownOs': sending('reinstallVm', { form: { os: 'debian_3' } }),
  'deleteDedicatedServer alreadyCancelled': sending('deleteDedicatedServer', { path: examplePath('undeleteDedicatedServer') }),
  'undeleteDedicatedServer notCancelled': sending('undeleteDedicatedServer', { path: examplePath('getDedicatedServer') }),
  'registerDomain alreadyRegistered': sending('registerDomain', { form: { ...PROJECT, domain: sampleIdentifiers.domain } }),
  'registerDomain unpricedTld': sending('registerDomain', { form: { ...PROJECT, domain: 'reseller-project.zz' } }),
  'registerDomain deWithoutPhone': sending('registerDomain', {
    form: { domain: 'reseller-project.de', handle: sampleIdentifiers.handleWithoutPhone },
  }),
  'registerDomain unknownHandle': sending('registerDomain', { form: { ...PROJECT, handle: 'HDL-999999' } }),
  'registerDomain wrongAuthcode': sending('registerDomain', { form: { ...PROJECT, authcode: 'example-authcode-2' } }),
  'registerDomain ns1WithoutNs2': sending('registerDomain', { form: { ...PROJECT, ns1: 'ns1.reseller-dns.example' } }),
  'setDomainNameservers ns4WithoutNs3': sending('setDomainNameservers', { form: { ns1: 'default', ns2: 'default', ns4: 'default' } }),
  'setDomainNameservers twice': sending('setDomainNameservers', {
    form: { ns1: 'ns1.reseller-dns.example', ns2: 'ns1.reseller-dns.example' },
  }),
  'renewDomain cancelled': sending('renewDomain', { path: { domain: sampleIdentifiers.cancelledDomain } }),
  'quoteRenewDomain cancelled': sending('quoteRenewDomain', { path: { domain: sampleIdentifiers.cancelledDomain } }),
  'renewDomain priceTooHigh': sending('renewDomain', { form: { max_price: '1.00' } }),
  'renewDomain notAPrice': sending('renewDomain', { form: { max_price: 'much' } }),
  'quoteRenewDomain notAPrice': sending('quoteRenewDomain', { form: { max_price: 'much' } }),
  'enableDomainDnssec needless': sending('enableDomainDnssec', { form: { ds_records: DS_RECORD } }),
  'setDomainHandle unknownHandle': sending('setDomainHandle', { form: { handle: 'HDL-999999' } }),
  'setDomainTransferLock noBoolean': sending('setDomainTransferLock', { form: { transfer_lock: 'on' } }),
  'undeleteDomain notCancelled': sending('undeleteDomain', { path: examplePath('getDomain') }),
  'editDomainDns unknownType': sending('editDomainDns', { form: { type: 'HINFO', data: 'x' } }),
  'editDomainDns noAddress': sending('editDomainDns', { form: { type: 'A', data: 'x' } }),
  'editDomainDns noData': sending('editDomainDns', { form: { type: 'A' } }),
  'registerDomain priceTooHigh': sending('registerDomain', { form: { ...PROJECT, max_price: '1.00' } }),
  'deleteDomain alreadyCancelled': sending('deleteDomain', { path: { domain: sampleIdentifiers.cancelledDomain } }),
  'checkDomain notFound': sending('checkDomain', { path: { domain: 'reseller-project.zz' } }),
  'purchaseDedicatedServer priceTooHigh': sending('purchaseDedicatedServer', { form: { max_price: '8.40' } }),
  'purchaseDedicatedServer badPrice': sending('purchaseDedicatedServer', { form: { max_price: '8,40' } }),
  'addDomainDns exists': sending('addDomainDns', { form: { type: 'A', data: '198.51.100.23' } }),
  'addDomainDns noAddress': sending('addDomainDns', { form: { type: 'A', data: 'x' } }),
  'editDomainDnsRecord noAddress': sending('editDomainDnsRecord', { form: { data: 'x' } }),
  'createHandle unknownCountry': sending('createHandle', { form: { ...PERSON_FORM, countrycode: 'ZZ' } }),
  'createHandle badPhone': sending('createHandle', { form: { ...PERSON_FORM, phone: '123' } }),
  'createHandle badEmail': sending('createHandle', { form: { ...PERSON_FORM, email: 'abc' } }),
  'listEvents limitTooHigh': sending('listEvents', { form: { limit: 101 } }),
  'addWebhook notPublic': sending('addWebhook', { form: { url: 'https://10.0.0.1/' } }),
  'addWebhook unknownEvent': sending('addWebhook', { form: { url: 'https://panel.example/', events: 'invoice.sent' } }),
  'editWebhook notPublic': sending('editWebhook', { form: { url: 'https://10.0.0.1/' } }),
  'listWebhookDeliveries limitTooHigh': sending('listWebhookDeliveries', { form: { limit: 101 } }),
  'listWebhookDeliveries unknownStatus': sending('listWebhookDeliveries', { form: { status: 'lost' } }),
  'replayWebhook notAnInstant': sending('replayWebhook', { form: { since: '2026-11-05' } }),
  'listRequests offsetTooSmall': sending('listRequests', { form: { offset: 0 } }),
};

/** The example form of an operation; nothing if it has no form. */
const exampleOf = (id: OperationId): Sent => requests.find(([other]) => other === id)?.[2] ?? {};

/** Changes a sandbox so that it refuses each operation that has the example of the error. */
interface SharedCause {
  prepare?(sandbox: Sandbox): Promise<unknown>;
  send(sandbox: Sandbox, id: OperationId): Promise<Received>;
}

/** Causes that are the same for every operation. `statuses.test.ts` and `idempotency.test.ts` test the others. */
const SHARED_CAUSES: Readonly<Record<string, SharedCause>> = {
  spendingLimit: {
    prepare: (sandbox) => raiseCorePrice(sandbox, '2.01'),
    send: async (sandbox, id) => {
      const { store, ports } = sandbox;
      const apiKey = await store.commit(async ({ db }) => {
        const key = await issueKey(db, ports, DEMO_ACCOUNT, { label: 'test', mode: 'sandbox' });
        const spendingLimit = { per_day: '0.00', per_month: null, operations: null };
        await restrictKey(
          db,
          ports,
          { id: key.id, account_id: DEMO_ACCOUNT, limit_id: null },
          { validUntil: null, allowedNetworks: null, spendingLimit },
        );
        return key.key;
      });
      if (id === 'setVmPower') {
        await sandbox.copy(id, { form: { mode: 'stop' } });
        const refused = await sandbox.copy(id, { form: { mode: 'start' }, apiKey });
        await sandbox.copy(id, { form: { mode: 'start' } });
        return refused;
      }
      return sandbox.copy(id, { ...exampleOf(id), apiKey });
    },
  },
  creditLimit: {
    async prepare(sandbox) {
      await raiseCorePrice(sandbox, '2.01');
      await sandbox.store.commit(({ db }) => db.updateTable('accounts').set({ credit_limit: 0 }).execute());
    },
    send: (sandbox, id) => sandbox.copy(id, exampleOf(id)),
  },
  quotaExceeded: {
    prepare: ({ store }) =>
      store.commit(({ db }) => db.updateTable('accounts').set({ max_vms: 0, max_handles: 0, max_records: 0 }).execute()),
    send: (sandbox, id) => sandbox.copy(id, exampleOf(id)),
  },
  keyReused: {
    prepare: (sandbox) => sandbox.copy('generateOtp', { path: {}, idempotencyKey: 'one-key' }),
    send: (sandbox, id) =>
      id === 'generateOtp'
        ? sandbox.copy('deleteDedicatedServer', { path: examplePath('deleteDedicatedServer'), idempotencyKey: 'one-key' })
        : sandbox.copy(id, { ...exampleOf(id), idempotencyKey: 'one-key' }),
  },
  notFound: {
    send: (sandbox, id) => sandbox.copy(id, { ...exampleOf(id), path: UNKNOWN }),
  },
};

const UNKNOWN = {
  vmid: '99999',
  identifier: '01900000-0000-7000-8000-00000000ffff',
  domain: 'not-registered.net',
  record_id: '01900000-0000-7000-8000-00000000eeee',
  backup_id: '01900000-0000-7000-8000-00000000bbbb',
  ip_address: '198.51.100.1',
  handle: 'HDL-999999',
  invoiceID: 'none',
};

/** Errors that no single request causes. Other tests cause them for every operation. */
const ELSEWHERE = new Set(['400', '401', '403', '413', '415', '429', '500', '503']);

interface ExampleError {
  readonly id: OperationId;
  readonly name: string;
  readonly status: number;
  readonly value: unknown;
}

const errors = apiOperations.flatMap(({ id, operation }) =>
  Object.entries(operation.responses)
    .filter(([status]) => status !== '200' && !ELSEWHERE.has(status))
    .flatMap(([status, { content }]) =>
      Object.entries(content['application/json']?.examples ?? {})
        .filter(([name]) => name !== 'keyInProgress')
        .map(([name, { value }]): ExampleError => ({ id, name, status: Number(status), value })),
    ),
);

const hasOwnCause = ({ id, name }: ExampleError): boolean => `${id} ${name}` in CAUSES;
const isSingleRequest = ({ id, name }: ExampleError): boolean => `${id} ${name}` in SINGLE_REQUESTS;

test.for(errors.filter(hasOwnCause))('$id: the example error $name occurs as documented', async (error) => {
  const response = await CAUSES[`${error.id} ${error.name}`]?.(await startSandbox());
  expect(outcomeOf(response)).toEqual(documentedOutcome(error));
});

test('the example errors that need no preparation occur as documented', async () => {
  const sandbox = await startSandbox();
  for (const error of errors.filter(isSingleRequest)) {
    const response = await SINGLE_REQUESTS[`${error.id} ${error.name}`]?.(sandbox);
    expect.soft(outcomeOf(response), `${error.id}: ${error.name}`).toEqual(documentedOutcome(error));
  }
});

test.for(Object.entries(SHARED_CAUSES))(
  'the example error %s occurs as documented in every operation',
  async ([name, { prepare, send }]) => {
    const sandbox = await startSandbox();
    await prepare?.(sandbox);
    const same = errors.filter((error) => error.name === name && !hasOwnCause(error) && !isSingleRequest(error));
    expect(same.length).toBeGreaterThan(0);
    for (const error of same) {
      expect.soft(outcomeOf(await send(sandbox, error.id)), error.id).toEqual(documentedOutcome(error));
    }
  },
);

test('every example error has a cause', () => {
  const without = errors.filter((error) => !hasOwnCause(error) && !isSingleRequest(error) && !(error.name in SHARED_CAUSES));
  expect(without.map(({ id, name }) => `${id} ${name}`)).toEqual([]);
});

function outcomeOf(response: Received | undefined): unknown {
  return { status: response?.status, type: response?.body.type, rules: rulesOf(response?.body.data) };
}

function documentedOutcome({ status, value }: ExampleError): unknown {
  const { type, data } = Object(value);
  return { status, type, rules: rulesOf(data) };
}

function rulesOf(data: unknown): unknown {
  return Object(data)?.fields?.map(({ field, rule }: { field: string; rule: string }) => ({ field, rule }));
}
