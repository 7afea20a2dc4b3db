import { memoryFence, StaleTokenError } from '@reseller/adapters';
import { describe, expect, test } from 'vitest';

import { startService } from '../../test/harness.ts';
import { simulatedFleet, simulatedHypervisor, simulatedRegistrar } from '../ports/simulated.ts';
import { issueToken, storeFence } from './reservation.ts';

const ORDER = {
  vmId: 12_345,
  node: 'node-1',
  cores: 1,
  mem: 1024,
  disk: 10,
  storage: null,
  networkSpeed: 1000,
  backupSlots: 2,
  ipv4: [],
  ipv6: [],
  os: 'debian_12',
  hostname: 'KVM',
  username: 'root',
  password: 'example',
  sshKey: null,
  userData: null,
};
const CONTACT = {
  handle: 'HDL-1',
  gender: 'MALE',
  firstname: 'A',
  lastname: 'B',
  organisation: null,
  street: 'C',
  number: '1',
  zipcode: '1',
  city: 'D',
  region: 'E',
  countrycode: 'DE',
  email: 'a@reseller.example',
  phone: null,
};
const DOMAIN = { name: 'fenced.net', contact: CONTACT, nameservers: [] };
const SERVER = { identifier: 'server-1', accountId: 'account-1', datacenter: 'FRA', addresses: [] };

describe('a memory fence', () => {
  test('admits the same token again, because a call may be repeated', async () => {
    const fence = memoryFence();
    await fence.admit('vm/1', 7);
    await expect(fence.admit('vm/1', 7)).resolves.toBeUndefined();
  });

  test('rejects the token just below the newest one, and keeps rejecting it', async () => {
    const fence = memoryFence();
    await fence.admit('vm/1', 7);
    for (const _ of [1, 2]) await expect(fence.admit('vm/1', 6)).rejects.toThrow(StaleTokenError);
  });

  test('keeps the tokens of subjects separate', async () => {
    const fence = memoryFence();
    await fence.admit('vm/1', 7);
    await expect(fence.admit('vm/2', 1)).resolves.toBeUndefined();
  });
});

test('a store fence rejects a token after any instance of the store has issued a newer one', async () => {
  const { store } = await startService();
  const issue = () => store.commit(({ db }) => issueToken(db, 'domain/fenced.net'));
  const older = await issue();
  const [one, other] = [storeFence(store), storeFence(store)];
  await one.admit('domain/fenced.net', older);
  const newer = await issue();
  expect(newer).toBe(older + 1);
  await expect(one.admit('domain/fenced.net', older)).rejects.toThrow(StaleTokenError);
  await expect(other.admit('domain/fenced.net', older)).rejects.toThrow(StaleTokenError);
  await expect(other.admit('domain/fenced.net', newer)).resolves.toBeUndefined();
});

/** Every call of a simulated port that has an effect, by name. */
const calls: Readonly<Record<string, () => (token: number) => Promise<unknown>>> = {
  'hypervisor.create': on(simulatedHypervisor, (port, token) => port.create(ORDER, token)),
  'hypervisor.reinstall': on(simulatedHypervisor, (port, token) => port.reinstall(ORDER, token)),
  'hypervisor.release': on(simulatedHypervisor, (port, token) => port.release?.(ORDER.vmId, token) ?? missing()),
  'hypervisor.start': on(simulatedHypervisor, (port, token) => port.start(ORDER.vmId, token)),
  'hypervisor.stop': on(simulatedHypervisor, (port, token) => port.stop(ORDER.vmId, token)),
  'hypervisor.restart': on(simulatedHypervisor, (port, token) => port.restart(ORDER.vmId, token)),
  'hypervisor.setLogin': on(simulatedHypervisor, (port, token) =>
    port.setLogin(ORDER.vmId, { password: 'example-password-1', sshKey: null }, token),
  ),
  'hypervisor.resize': on(simulatedHypervisor, (port, token) => port.resize(ORDER, token)),
  'hypervisor.remove': on(simulatedHypervisor, (port, token) => port.remove(ORDER.vmId, token)),
  'hypervisor.backups.create': on(simulatedHypervisor, (port, token) => port.backups?.create(ORDER.vmId, 'one', token) ?? missing()),
  'hypervisor.backups.restore': on(simulatedHypervisor, (port, token) => port.backups?.restore(ORDER.vmId, 'one', token) ?? missing()),
  'hypervisor.backups.remove': on(simulatedHypervisor, (port, token) => port.backups?.remove(ORDER.vmId, 'one', token) ?? missing()),
  'hypervisor.isos.insert': on(simulatedHypervisor, (port, token) => port.isos?.insert(ORDER.vmId, 'systemrescue_12', token) ?? missing()),
  'hypervisor.isos.eject': on(simulatedHypervisor, (port, token) => port.isos?.eject(ORDER.vmId, token) ?? missing()),
  'fleet.setUp': on(simulatedFleet, (port, token) => port.setUp(SERVER, token)),
  'fleet.retire': on(simulatedFleet, (port, token) => port.retire(SERVER.identifier, token)),
  'registrar.register': on(simulatedRegistrar, (port, token) => port.register(DOMAIN, token)),
  'registrar.transfer': on(simulatedRegistrar, (port, token) => port.transfer(DOMAIN, 'example-authcode-1', token)),
  'registrar.withdraw': on(simulatedRegistrar, (port, token) => port.withdraw(DOMAIN.name, token)),
  'registrar.setNameservers': on(simulatedRegistrar, (port, token) => port.setNameservers(DOMAIN.name, [], token)),
  'registrar.setTransferLock': on(simulatedRegistrar, (port, token) => port.setTransferLock(DOMAIN.name, true, token)),
  'registrar.renew': on(simulatedRegistrar, (port, token) => port.renew(DOMAIN.name, '2027-11-10', token)),
  'registrar.setDsRecords': on(simulatedRegistrar, (port, token) => port.setDsRecords?.(DOMAIN.name, [], token) ?? missing()),
  'registrar.setContact': on(simulatedRegistrar, (port, token) => port.setContact(DOMAIN.name, DOMAIN.contact, token)),
  'registrar.setAuthcode': on(simulatedRegistrar, (port, token) => port.setAuthcode(DOMAIN.name, null, token)),
  'registrar.setRenewal': on(simulatedRegistrar, (port, token) => port.setRenewal(DOMAIN.name, true, token)),
};

function missing(): Promise<never> {
  return Promise.reject(new Error('missing'));
}

function on<Port>(make: () => Port, call: (port: Port, token: number) => Promise<unknown>): () => (token: number) => Promise<unknown> {
  return () => {
    const port = make();
    return (token) => call(port, token);
  };
}

test.each(Object.keys(calls))('the simulated %s rejects a stale token', async (name) => {
  const call = calls[name]?.();
  await call?.(2);
  await expect(call?.(1)).rejects.toThrow(StaleTokenError);
});

/** The names of all functions, also of those in parts of a port, such as `hypervisor.backups.create`. */
function functionsIn(value: unknown): string[] {
  return Object.entries(Object(value)).flatMap(([name, member]) => {
    if (typeof member === 'function') return [name];
    return typeof member === 'object' ? functionsIn(member).map((inner) => `${name}.${inner}`) : [];
  });
}

/** Calls that change nothing, so they have no token. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'registrar.isAvailable',
  'fleet.automaticSetUp.accessTo',
  'hypervisor.console',
  'hypervisor.reaches',
]);

test('the list has every call of the simulated ports', () => {
  const ports = { hypervisor: simulatedHypervisor(), fleet: simulatedFleet(), registrar: simulatedRegistrar() };
  const withToken = functionsIn(ports).filter((call) => !WITHOUT_EFFECT.has(call));
  expect(Object.keys(calls).toSorted()).toEqual(withToken.toSorted());
});
