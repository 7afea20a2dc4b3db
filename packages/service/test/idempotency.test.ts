/** Repeated requests, for every operation of the document that changes something. */
import { describe, expect, test } from 'vitest';

import { issueApiKey, systemRandom } from '../src/index.ts';
import type { OperationId } from '../src/reseller/operation.ts';
import { operations } from '../src/reseller/table.ts';
import { seal } from '../src/rules/credentials.ts';
import { contentsOf } from './contents.ts';
import { pauseRegistrar } from './domains.ts';
import { formRules } from './form-rules.ts';
import { goodCall } from './good-calls.ts';
import { sharedService, startService } from './harness.ts';
import type { TestService } from './harness.ts';
import type { Sent } from './http-client.ts';
import { apiOf, writes } from './operations.ts';
import { TestHypervisor } from './ports/hypervisor.ts';

const KEY = 'attempt-1';

/**
 * The outcome of an operation that is requested twice without a key: `anew` runs it again with another result,
 * `same` leaves the same state as the first request, `refused` responds with 409 because it is already done, and `gone` with 404 because
 * the first request removed the resource.
 */
const twice: Readonly<Record<string, 'anew' | 'same' | 'refused' | 'gone'>> = {
  createVm: 'anew',
  reinstallVm: 'same',
  deleteDedicatedServer: 'refused',
  undeleteDedicatedServer: 'refused',
  registerDomain: 'refused',
  setDomainNameservers: 'same',
  setDomainTransferLock: 'same',
  setDomainHandle: 'same',
  enableDomainDnssec: 'same',
  disableDomainDnssec: 'same',
  renewDomain: 'refused',
  requestDomainAuthcode: 'anew',
  undeleteDomain: 'refused',
  editDomainDns: 'same',
  createHandle: 'anew',
  generateOtp: 'anew',
  deleteDomain: 'refused',
  purchaseDedicatedServer: 'refused',
  addDomainDns: 'refused',
  editDomainDnsRecord: 'same',
  removeDomainDns: 'gone',
  setVmPower: 'same',
  changeVm: 'same',
  deleteVm: 'gone',
  resetVmPassword: 'anew',
  attachVmIso: 'same',
  detachVmIso: 'same',
  submitVmAbuseStatement: 'same',
  setVmMonitoring: 'same',
  rotateKey: 'refused',
  revokeKey: 'same',
  editVm: 'same',
  addSshKey: 'refused',
  removeSshKey: 'gone',
  createVmBackup: 'anew',
  restoreVmBackup: 'same',
  deleteVmBackup: 'gone',
  setVmBackupSchedule: 'same',
  setVmRdns: 'same',
  buyIps: 'anew',
  assignIp: 'refused',
  releaseIp: 'gone',
  removeVmRdns: 'same',
  addWebhook: 'anew',
  editWebhook: 'same',
  removeWebhook: 'gone',
  rotateWebhookSecret: 'anew',
  testWebhook: 'anew',
  replayWebhookDelivery: 'same',
  // Until its steps are done.
  replayWebhook: 'refused',
  openVmConsole: 'anew',
};

test('every operation that changes something is listed, and none that does not', () => {
  expect(Object.keys(twice).toSorted()).toEqual([...writes].toSorted());
});

test.each(writes)('%s: with a key, the second request has no effect and gets the first response', async (id) => {
  const service = await startService();
  const owner = await service.account();
  const sent = { ...(await goodCall(service, id, owner)), idempotencyKey: KEY };
  const first = await service.call(id, sent);
  expect(first.status).toBe(200);
  const after = await contentsOf(service);
  const second = await service.call(id, sent);
  expect([second.status, second.body]).toEqual([200, first.body]);
  // The same shortly before the key expires after 24 hours.
  service.clock.advance(86_399_000);
  const third = await service.call(id, sent);
  expect([third.status, third.body]).toEqual([200, first.body]);
  expect(await contentsOf(service)).toEqual(after);

  // The log has an entry for each request.
  const log = await service.call('listRequests', { apiKey: owner.apiKey });
  const entries: { requestID: string; error_type: string | null; response_body: string }[] = log.body.data.slice(0, 3);
  expect(new Set(entries.map(({ requestID }) => requestID)).size).toBe(3);
  expect(new Set(entries.map(({ response_body }) => response_body)).size).toBe(1);
  expect(entries.map(({ error_type }) => error_type)).toEqual([null, null, null]);
});

describe('on one service', () => {
  const customer = sharedService();
  test.each(writes)('%s: refuses a key that was used with a different request, and changes nothing', async (id) => {
    const service = await customer();
    const owner = await service.account();
    const sent = { ...(await goodCall(service, id, owner)), idempotencyKey: KEY };
    const other = id === 'createHandle' ? 'generateOtp' : 'createHandle';
    const otherSent = await goodCall(service, other, owner);
    const isReused = { status: 409, body: { type: 'idempotency_key_reused', data: null } };

    await service.call(other, { ...otherSent, idempotencyKey: 'of-another-operation' });
    const before = await contentsOf(service);
    expect(await service.call(id, { ...sent, idempotencyKey: 'of-another-operation' })).toMatchObject(isReused);
    expect(await contentsOf(service)).toEqual(before);

    expect((await service.call(id, sent)).status).toBe(200);
    const after = await contentsOf(service);
    const { form } = sent;
    if (form) expect(await service.call(id, { ...sent, form: anotherForm(id, form) })).toMatchObject(isReused);
    for (const name of Object.keys(sent.path ?? {})) {
      // A request for another resource, which need not exist.
      expect(await service.call(id, { ...sent, path: { ...sent.path, [name]: '01900000-0000-7000-8000-00000000ffff' } })).toMatchObject(
        isReused,
      );
    }
    expect(await service.call(other, { ...otherSent, idempotencyKey: KEY })).toMatchObject(isReused);
    expect(await contentsOf(service)).toEqual(after);
  });
});

describe('on one service', () => {
  const customer = sharedService();
  test.each(writes)('%s: has its documented outcome when it is requested twice without a key', async (id) => {
    const service = await customer();
    const sent = await goodCall(service, id, await service.account());
    const first = await service.call(id, sent);
    const after = await contentsOf(service);
    const second = await service.call(id, sent);
    if (twice[id] === 'gone') {
      expect(second).toMatchObject({ status: 404, body: { type: 'not_found', data: null } });
      expect(await contentsOf(service)).toEqual(after);
    } else if (twice[id] === 'refused') {
      expect(second).toMatchObject({ status: 409, body: { type: 'wrong_state', data: null } });
      expect(await contentsOf(service)).toEqual(after);
    } else {
      expect(second.status).toBe(200);
      if (twice[id] === 'anew') expect(second.body.data).not.toEqual(first.body.data);
      // The second request leaves the same data and state as the first.
      else expect([second.body.data, await contentsOf(service)]).toEqual([first.body.data, after]);
    }
  });
});

describe('on one service', () => {
  const customer = sharedService();
  test.each(writes)(
    '%s: an invalid key is refused, a refused request leaves its key free, and keys of accounts are their own',
    async (id) => {
      const service = await customer();
      const sent = await goodCall(service, id, await service.account());
      const stranger = await service.account();
      const before = await contentsOf(service);
      for (const idempotencyKey of ['a b', 'x'.repeat(256)]) {
        expect(await service.call(id, { ...sent, idempotencyKey })).toMatchObject({ status: 400, body: { type: 'malformed_request' } });
      }
      const broken: Sent = apiOf(id).operation.form ? { body: 'nobody_knows_this=1' } : { body: 'no=form' };
      const refused = await service.call(id, { ...sent, ...broken, idempotencyKey: KEY });
      expect(refused.status).toBe(apiOf(id).operation.form ? 422 : 400);
      expect(await contentsOf(service)).toEqual(before);
      await service.call('generateOtp', { apiKey: stranger.apiKey, idempotencyKey: KEY });
      expect((await service.call(id, { ...sent, idempotencyKey: KEY })).status).toBe(200);
    },
  );
});

const delivered = writes.filter((id) => operations[id].kind !== 'store');

test.each(delivered)(
  '%s: while the first request is in progress, the second is refused; afterwards it gets the response to the first',
  async (id) => {
    const hypervisor = new HeldHypervisor();
    const service = await startService({ hypervisor });
    const owner = await service.account();
    const sent = { ...(await goodCall(service, id, owner)), idempotencyKey: KEY };
    hypervisor.hold();
    const resume = pauseRegistrar(service);
    const inProgress = service.call(id, sent);
    await expect.poll(() => reservations(service)).toBe(1);
    expect(await service.call(id, sent)).toMatchObject({ status: 409, body: { type: 'idempotency_key_in_progress', data: null } });
    // Another request already has its key.
    const another = await service.call('generateOtp', { apiKey: owner.apiKey, idempotencyKey: KEY });
    expect(another).toMatchObject({ status: 409, body: { type: 'idempotency_key_reused' } });
    hypervisor.letGo();
    resume();
    const first = await inProgress;
    expect(first.status).toBe(200);
    const after = await contentsOf(service);
    expect((await service.call(id, sent)).body).toEqual(first.body);
    expect(await contentsOf(service)).toEqual(after);
  },
);

test('every API key of an account gets the stored response, also one that replaces a revoked key', async () => {
  const service = await startService();
  const owner = await service.account();
  const sent = await goodCall(service, 'createVm', owner);
  const first = await service.call('createVm', { ...sent, idempotencyKey: KEY });
  const apiKey = await replaceKey(service, owner.id);
  const before = await contentsOf(service);
  expect((await service.call('createVm', { ...sent, apiKey, idempotencyKey: KEY })).body).toEqual(first.body);
  expect(await contentsOf(service)).toEqual(before);
  // The hypervisor of the test has the password.
  expect(JSON.stringify({ ...before, hypervisor: [] })).not.toContain(first.body.data.config.password);
});

test('says that a request was carried out whose response an earlier version has sealed with an API key', async () => {
  const service = await startService();
  const owner = await service.account();
  await service.call('generateOtp', { apiKey: owner.apiKey, idempotencyKey: KEY });
  const response = seal('{}', owner.apiKey, 'context', systemRandom);
  await service.store.commit(({ db }) => db.updateTable('idempotency_keys').set({ response }).execute());
  const again = await service.call('generateOtp', { apiKey: owner.apiKey, idempotencyKey: KEY });
  expect(again).toMatchObject({ status: 409, body: { message: expect.stringContaining('Do not send it again') } });
});

async function replaceKey({ store, ports }: TestService, accountId: string): Promise<string> {
  return store.commit(async ({ db }) => {
    await db.updateTable('api_keys').set({ revoked: 1 }).where('account_id', '=', accountId).execute();
    return issueApiKey(db, ports, accountId, { label: 'second', mode: 'sandbox' });
  });
}

/** A hypervisor whose calls wait until the test releases them. */
class HeldHypervisor extends TestHypervisor {
  #held: PromiseWithResolvers<void> | undefined;
  hold(): void {
    this.#held = Promise.withResolvers<void>();
  }
  letGo(): void {
    this.#held?.resolve();
  }
  override async create(...call: Parameters<TestHypervisor['create']>): Promise<void> {
    await this.#held?.promise;
    await super.create(...call);
  }
  override async reinstall(...call: Parameters<TestHypervisor['reinstall']>): Promise<void> {
    await this.#held?.promise;
    await super.reinstall(...call);
  }
  override async stop(...call: Parameters<TestHypervisor['stop']>): Promise<void> {
    await this.#held?.promise;
    await super.stop(...call);
  }
  override async resize(...call: Parameters<TestHypervisor['resize']>): Promise<void> {
    await this.#held?.promise;
    await super.resize(...call);
  }
  override async setLogin(...call: Parameters<TestHypervisor['setLogin']>): Promise<void> {
    await this.#held?.promise;
    await super.setLogin(...call);
  }
  override async bootFrom(...call: Parameters<TestHypervisor['bootFrom']>): Promise<void> {
    await this.#held?.promise;
    await super.bootFrom(...call);
  }
  override async createBackup(...call: Parameters<TestHypervisor['createBackup']>): Promise<void> {
    await this.#held?.promise;
    await super.createBackup(...call);
  }
  override async restoreBackup(...call: Parameters<TestHypervisor['restoreBackup']>): Promise<void> {
    await this.#held?.promise;
    await super.restoreBackup(...call);
  }
  override async removeBackup(...call: Parameters<TestHypervisor['removeBackup']>): Promise<void> {
    await this.#held?.promise;
    await super.removeBackup(...call);
  }
  override async remove(...call: Parameters<TestHypervisor['remove']>): Promise<void> {
    await this.#held?.promise;
    await super.remove(...call);
  }
}

async function reservations({ store }: Awaited<ReturnType<typeof startService>>): Promise<number> {
  return (await store.read((db) => db.selectFrom('reservations').select('id').execute())).length;
}

/** The form without a field that no other field needs, so that it stays valid, or with another value. */
function anotherForm(id: OperationId, form: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { required, needs } = formRules(id);
  const spared = Object.keys(form).find((name) => !required.includes(name) && !needs.some(([, needed]) => needed === name));
  if (spared !== undefined) return Object.fromEntries(Object.entries(form).filter(([name]) => name !== spared));
  if (id === 'setVmPower') return { ...form, mode: 'restart' };
  if (id === 'setVmBackupSchedule') return { ...form, interval: 'weekly' };
  if (id === 'setDomainHandle') return { handle: 'HDL-ABCDEFGHJKLM' };
  if (id === 'setDomainTransferLock') return { transfer_lock: false };
  if (id === 'setVmMonitoring') return { ...form, port: 80 };
  if (id === 'submitVmAbuseStatement') return { ...form, statement: 'Another one' };
  if (id === 'attachVmIso') return { ...form, iso: 'debian_13_netinst' };
  if (id === 'replayWebhook') return { since: '2026-11-02T00:00:00Z' };
  if (id === 'restoreVmBackup') return { ...form, backup_id: 'another' };
  throw new Error(`Every field of ${id} is needed: change one here instead.`);
}
