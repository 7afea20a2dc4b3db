import type { SshKey } from '@reseller/client/extension';
import type { Selectable } from 'kysely';

import { findSshKey, sshKeysOf, storeSshKey } from '../../core/vm/ssh-keys.ts';
import type { BrokenField } from '../../rules/broken-field.ts';
import { counted } from '../../rules/counted.ts';
import { toInstant } from '../../rules/instants.ts';
import { invalid, notFound } from '../../rules/refusal.ts';
import { keyDetailsOf, publicKeyOf } from '../../rules/ssh-key.ts';
import type { SshKeysTable } from '../../store/tables/vms.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';

/** The refusal of a public key that the pattern of the document accepts, but whose data are not those of a key. */
export const NOT_A_KEY: BrokenField = {
  field: 'ssh_key',
  rule: 'ssh_key',
  message: 'must be a whole public key: its data cannot be read as a key of its type',
};

/** GET /vm/ssh-key/list */
export const listSshKeys: ReadOperation<'listSshKeys'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId }) {
    const keys = await sshKeysOf(db, accountId);
    return { message: `${counted(keys.length, 'SSH key')}.`, data: { list: keys.map(toSshKey) } };
  },
};

/** PUT /vm/ssh-key/add */
export const addSshKey: StoreOperation<'addSshKey'> = {
  kind: 'store',
  async run({ db }, { accountId, form, runtime: { ports } }) {
    const publicKey = publicKeyOf(form.ssh_key);
    if (publicKey === undefined) throw invalid([NOT_A_KEY]);
    const key = await storeSshKey(db, ports, { accountId, publicKey, displayname: form.displayname });
    return { message: 'The SSH key was stored.', data: toSshKey(key) };
  },
};

/** DELETE /vm/ssh-key/{ssh_key_id}/remove */
export const removeSshKey: StoreOperation<'removeSshKey'> = {
  kind: 'store',
  async run({ db }, { accountId, path }) {
    const key = await findSshKey(db, accountId, path.ssh_key_id);
    if (!key) throw notFound('SSH key');
    await db.deleteFrom('ssh_keys').where('id', '=', key.id).execute();
    return { message: 'The SSH key was removed. VMs that were created with it keep it.', data: null };
  },
};

function toSshKey({ id, displayname, public_key, fingerprint, created }: Selectable<SshKeysTable>): SshKey {
  const { type } = keyDetailsOf(public_key);
  return { ssh_key_id: id, displayname, type, fingerprint, ssh_key: public_key, created: toInstant(created) };
}
