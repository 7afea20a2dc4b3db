/** Resellers store and remove SSH keys, which their purchases name. */
import { expect } from 'vitest';

import { remove } from './model.ts';
import type { ModelAccount } from './model.ts';
import { notFound, send, wrongState } from './requests.ts';
import type { Simulation } from './simulation.ts';

/** Only a few keys, so that accounts often have one already. */
const TEXTS = [
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMvH6YYJeE9ZuxP8J2kJSTkz8PltKk+QffHf0dVokw7I key1@reseller-customer.net',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO47d1geLUqMp1vmpv1MYnTpDm2tivychbSs3lZ4ZERH key2@reseller-customer.net',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHOB+OzUR5cLV1Zy+fP4QC+uGb05St2ALWw9swWZMaWy key3@reseller-customer.net',
];

export async function changeSshKeys(sim: Simulation): Promise<void> {
  const { dice, model } = sim;
  const account = dice.pick(model.accounts);
  await expectKeys(sim, account);
  return dice.chance(0.6) ? addKey(sim, account, dice.pick(TEXTS)) : removeKey(sim, account);
}

function addKey(sim: Simulation, account: ModelAccount, text: string): Promise<void> {
  return send(sim, {
    account,
    id: 'addSshKey',
    sent: { form: { ssh_key: text } },
    otherForm: { ssh_key: text, displayname: 'another name' },
    predict: () => ({
      portUse: 'no port',
      refusal: account.sshKeys.some((key) => key.text === text) ? wrongState : undefined,
      reserve: () => ({
        release: () => {},
        confirm: (reply) => void account.sshKeys.push({ id: reply.data().ssh_key_id, text }),
      }),
    }),
  });
}

function removeKey(sim: Simulation, account: ModelAccount): Promise<void> {
  // Sometimes the key of another account, which this account does not have.
  const key = sim.dice.pickAny((sim.dice.chance(0.8) ? account : sim.dice.pick(sim.model.accounts)).sshKeys);
  if (!key) return expectKeys(sim, account);
  return send(sim, {
    account,
    id: 'removeSshKey',
    sent: { path: { ssh_key_id: key.id } },
    predict: () => ({
      portUse: 'no port',
      refusal: account.sshKeys.includes(key) ? undefined : notFound,
      reserve: () => ({ release: () => {}, confirm: () => remove(account.sshKeys, key) }),
    }),
  });
}

async function expectKeys({ client }: Simulation, account: ModelAccount): Promise<void> {
  const { list } = (await client.call(account, 'listSshKeys')).data();
  expect(
    list.map(({ ssh_key_id, ssh_key }) => ({ id: ssh_key_id, text: ssh_key })),
    `SSH keys of ${account.name}`,
  ).toEqual(account.sshKeys);
}
