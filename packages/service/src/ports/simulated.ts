import type { Duplex } from 'node:stream';

import { memoryFence } from '@reseller/adapters';
import type { Dns, DsRecord, Fence, FencingToken, Fleet, Hypervisor, IsoFile, Registrar, ServerAccess } from '@reseller/adapters';

import { newPassword, sha256 } from '../rules/credentials.ts';
import type { Random } from '../rules/random.ts';
import type { Ports } from './ports.ts';
import { simulatedScreen } from './simulated-screen.ts';
import { systemClock, systemRandom } from './system.ts';

/** Simulated infrastructure with the system's clock and random numbers. Ports in `given` replace the simulated ones. */
export function simulatedPorts(given: Partial<Ports> = {}): Ports {
  return {
    clock: systemClock,
    random: systemRandom,
    hypervisor: simulatedHypervisor(),
    fleet: simulatedFleet(),
    registrar: simulatedRegistrar(),
    dns: simulatedDns(),
    ...given,
  };
}

export const SIMULATED_ISO_FILES: readonly IsoFile[] = [
  { name: 'debian_13_netinst', displayname: 'Debian 13, network installer', platform: 'linux' },
  { name: 'systemrescue_12', displayname: 'SystemRescue 12', platform: 'linux' },
];

/** The port of the simulated VMs that accepts no connection. The document names it. */
const CLOSED_PORT = 9;

/** A hypervisor without machines. Only the service's own store knows its VMs. */
export function simulatedHypervisor(fence: Fence = memoryFence()): Hypervisor {
  const screens = new Map<number, Set<Duplex>>();
  const stopped = new Set<number>();
  async function end(vmId: number, token: FencingToken): Promise<void> {
    await fence.admit(`vm/${vmId}`, token);
    for (const screen of screens.get(vmId) ?? []) screen.destroy();
  }
  return {
    addressesNeedRestart: true,
    create: ({ vmId }, token) => fence.admit(`vm/${vmId}`, token),
    reinstall: ({ vmId }, token) => end(vmId, token),
    async start(vmId, token) {
      await fence.admit(`vm/${vmId}`, token);
      stopped.delete(vmId);
    },
    async restart(vmId, token) {
      await end(vmId, token);
      stopped.delete(vmId);
    },
    setLogin: (vmId, _login, token) => fence.admit(`vm/${vmId}`, token),
    async stop(vmId, token) {
      await end(vmId, token);
      stopped.add(vmId);
    },
    resize: ({ vmId }, token) => fence.admit(`vm/${vmId}`, token),
    async remove(vmId, token) {
      await end(vmId, token);
      stopped.delete(vmId);
    },
    release: (vmId, token) => fence.admit(`vm/${vmId}`, token),
    reaches: async (vmId, port) => !stopped.has(vmId) && port !== CLOSED_PORT,
    async console(vmId) {
      if (stopped.has(vmId)) throw new Error(`The simulated VM ${vmId} is stopped.`);
      const screen = simulatedScreen(vmId);
      const ofVm = screens.get(vmId) ?? new Set();
      screens.set(vmId, ofVm.add(screen));
      screen.once('close', () => {
        ofVm.delete(screen);
        if (ofVm.size === 0) screens.delete(vmId);
      });
      return screen;
    },
    backups: {
      create: (vmId, _backup, token) => fence.admit(`vm/${vmId}`, token),
      restore: (vmId, _backup, token) => fence.admit(`vm/${vmId}`, token),
      remove: (vmId, _backup, token) => fence.admit(`vm/${vmId}`, token),
    },
    isos: {
      files: SIMULATED_ISO_FILES,
      insert: (vmId, _file, token) => fence.admit(`vm/${vmId}`, token),
      eject: (vmId, token) => fence.admit(`vm/${vmId}`, token),
    },
  };
}

/** A fleet without machines. A set-up completes after a quarter of an hour. */
export function simulatedFleet(fence: Fence = memoryFence()): Fleet {
  return {
    automaticSetUp: { after: 900, accessTo: simulatedAccess },
    setUp: ({ identifier }, token) => fence.admit(`server/${identifier}`, token),
    retire: (identifier, token) => fence.admit(`server/${identifier}`, token),
  };
}

/** Access to a simulated server: a URL that does not resolve, and a new password. */
export function simulatedAccess(identifier: string, random: Random): ServerAccess {
  const username = `server-${identifier.slice(0, 8)}`;
  return {
    dashboard: `https://dedicated.reseller-service.invalid/servers/${identifier}`,
    username,
    email: `${username}@dedicated.reseller-service.invalid`,
    password: newPassword(random),
  };
}

/** A DNS without servers. The name server of a sandbox reads the zones in the store. */
export function simulatedDns(fence: Fence = memoryFence()): Dns {
  return {
    publish: ({ name }, token) => fence.admit(`zone/${name}`, token),
    remove: (name, token) => fence.admit(`zone/${name}`, token),
    dsRecords: async (name) => [simulatedDsRecord(name)],
  };
}

/** The DS record of a key that does not exist. The name server of a sandbox does not sign. */
export function simulatedDsRecord(name: string): DsRecord {
  const digest = sha256(name);
  return { keyTag: Number.parseInt(digest.slice(0, 4), 16), algorithm: 13, digestType: 2, digest };
}

/** The auth code that transfers any domain in the simulation. The document shows it to users of the sandbox. */
const SIMULATED_AUTHCODE = 'example-authcode-1';

/**
 * A registrar without a registry. Only the service's own store knows its domains. Domains that begin with `taken-` are registered
 * elsewhere, and every domain can be transferred with the same auth code, unless it begins with `signed-`: DNSSEC is on at its present provider.
 */
export function simulatedRegistrar(fence: Fence = memoryFence()): Registrar {
  function admit(name: string, token: FencingToken) {
    return fence.admit(`domain/${name}`, token);
  }
  return {
    standardNameservers: [1, 2, 3, 4, 5].map((number) => `ns${number}.provider.example`),
    async isAvailable(name) {
      return !name.startsWith('taken-');
    },
    async register({ name }, token) {
      await admit(name, token);
      return name.startsWith('taken-') ? 'taken' : 'registered';
    },
    async transfer({ name }, authcode, token) {
      await admit(name, token);
      if (authcode !== SIMULATED_AUTHCODE) return 'refused';
      return name.startsWith('signed-') ? 'signed' : 'transferred';
    },
    withdraw: admit,
    setNameservers: (name, _nameservers, token) => admit(name, token),
    setTransferLock: (name, _locked, token) => admit(name, token),
    renew: (name, _expires, token) => admit(name, token),
    setDsRecords: (name, _records, token) => admit(name, token),
    setContact: (name, _contact, token) => admit(name, token),
    setAuthcode: (name, _authcode, token) => admit(name, token),
    setRenewal: (name, _renewed, token) => admit(name, token),
  };
}
