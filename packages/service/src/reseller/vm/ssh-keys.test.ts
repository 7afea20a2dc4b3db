import { generateKeyPairSync } from 'node:crypto';

import { expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { MAX_SSH_KEYS } from '../../core/vm/ssh-keys.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMvH6YYJeE9ZuxP8J2kJSTkz8PltKk+QffHf0dVokw7I';
/** As `ssh-keygen -l` prints it. */
const FINGERPRINT = 'SHA256:GgLzTNzJkVULw1TVOgIJYS1KUf6pmG6fqIdRAVoV2O0';

/** A new public key in OpenSSH notation, without a comment. */
function newKey(): string {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const fields = [Buffer.from('ssh-ed25519'), Buffer.from(x, 'base64url')].flatMap((field) => [lengthOf(field), field]);
  return `ssh-ed25519 ${Buffer.concat(fields).toString('base64')}`;
}

function lengthOf(field: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(field.length);
  return length;
}

const add = (service: TestService, form: Readonly<Record<string, string>>, apiKey?: string) =>
  service.call('addSshKey', { form, ...(apiKey !== undefined && { apiKey }) });
const listed = async (service: TestService) => (await service.call('listSshKeys')).body.data.list;

test('stores a key, and lists it with its type and the fingerprint that ssh-keygen prints', async () => {
  const service = await startService();
  const { status, body } = await add(service, { ssh_key: `${KEY} ops@laptop`, displayname: 'ops laptop' });
  expect([status, body.data]).toEqual([
    200,
    {
      ssh_key_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      displayname: 'ops laptop',
      type: 'ssh-ed25519',
      fingerprint: FINGERPRINT,
      ssh_key: `${KEY} ops@laptop`,
      created: new Date(service.clock.now()).toISOString(),
    },
  ]);
  expect(await listed(service)).toEqual([body.data]);
});

test.each([
  [{ ssh_key: `${KEY} ops@laptop`, displayname: 'desk' }, 'desk'],
  [{ ssh_key: `${KEY} ops@laptop` }, 'ops@laptop'],
  [{ ssh_key: KEY }, 'ssh-ed25519'],
  [{ ssh_key: encodeURIComponent(`${KEY} my laptop`) }, 'my laptop'],
  [
    {
      ssh_key:
        'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIKaaMCw3aUD1cvh8ZK64B4hxO+e8hg00vDlYAFFX8hJSAAAABHNzaDo=',
    },
    'sk-ssh-ed25519@openssh.com',
  ],
])('names the key of %j %s', async (form, displayname) => {
  const service = await startService();
  expect((await add(service, form)).body.data.displayname).toBe(displayname);
});

test('refuses data that are not a key of their type, in the words of a purchase', async () => {
  const service = await startService();
  const ssh_key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMvH6YYJeE9Z';
  const { status, body } = await add(service, { ssh_key });
  const purchase = await service.call('createVm', { form: { ...SMALL_VM, ssh_key } });
  expect([status, body.message]).toEqual([422, purchase.body.message]);
  expect(await listed(service)).toEqual([]);
});

test('refuses a key that the account has, and accepts it from another account', async () => {
  const service = await startService();
  const { body } = await add(service, { ssh_key: `${KEY} one` });
  const again = await add(service, { ssh_key: `${KEY} two` });
  expect([again.status, again.body.type]).toEqual([409, 'wrong_state']);
  expect(again.body.message).toContain(`as one (${body.data.ssh_key_id})`);
  const other = await service.account();
  expect((await add(service, { ssh_key: KEY }, other.apiKey)).status).toBe(200);
});

test.each(engines)('an account can have 100 keys, also when requests race for the last place, on %s', async (engine) => {
  const service = await startService({ engine });
  for (let count = 1; count < MAX_SSH_KEYS; count++) expect((await add(service, { ssh_key: newKey() })).status).toBe(200);
  const last = await Promise.all([newKey(), newKey()].map((ssh_key) => add(service, { ssh_key })));
  expect(last.map(({ status, body }) => [status, body.type]).toSorted()).toEqual([
    [200, undefined],
    [409, 'quota_exceeded'],
  ]);
  const [first] = await listed(service);
  expect((await service.call('removeSshKey', { path: { ssh_key_id: first.ssh_key_id } })).status).toBe(200);
  expect((await add(service, { ssh_key: newKey() })).status).toBe(200);
});

test('a purchase installs a stored key, and the VM keeps it when the key is removed', async () => {
  const service = await startService();
  const { ssh_key_id } = (await add(service, { ssh_key: `${KEY} ops`, displayname: 'ops laptop' })).body.data;
  const { body } = await service.call('createVm', { form: { ...SMALL_VM, ssh_key_id } });
  expect(service.hypervisor.lastOrder).toMatchObject({ vmId: body.data.identifier, sshKey: `${KEY} ops` });
  expect((await service.call('removeSshKey', { path: { ssh_key_id } })).status).toBe(200);
  expect(await listed(service)).toEqual([]);
  const stored = await service.store.read((db) => db.selectFrom('vms').select(['ssh_key', 'ssh_key_displayname']).execute());
  expect(stored).toEqual([{ ssh_key: `${KEY} ops`, ssh_key_displayname: 'ops laptop' }]);
});

test('a purchase and its quote refuse a removed key, the key of another account, and two keys', async () => {
  const service = await startService();
  const { ssh_key_id } = (await add(service, { ssh_key: KEY })).body.data;
  const other = await service.account();
  const theirs = (await add(service, { ssh_key: newKey() }, other.apiKey)).body.data.ssh_key_id;
  const kept = (await add(service, { ssh_key: newKey() })).body.data.ssh_key_id;
  const both = { ...SMALL_VM, ssh_key_id: kept, ssh_key: KEY };
  await service.call('removeSshKey', { path: { ssh_key_id } });
  const unknown = 'must be the identifier of an SSH key of this account, from GET /vm/ssh-key/list';
  for (const [form, message] of [
    [{ ...SMALL_VM, ssh_key_id }, unknown],
    [{ ...SMALL_VM, ssh_key_id: theirs }, unknown],
    [both, 'must be left out where ssh_key is sent'],
  ] as const) {
    for (const id of ['createVm', 'quoteCreateVm'] as const) {
      const { status, body } = await service.call(id, { form });
      expect([status, body.data.fields]).toMatchObject([422, [{ field: 'ssh_key_id', message }]]);
    }
  }
  expect(service.hypervisor.vms.size).toBe(0);
});
