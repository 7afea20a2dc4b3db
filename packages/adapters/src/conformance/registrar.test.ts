/** The suite accepts a correct registrar, and names each mistake of a wrong one. */
import { describe, expect, test } from 'vitest';

import type { Fence } from '../fencing.ts';
import type { Registrar } from '../registrar.ts';
import { registrarConformance } from './registrar.ts';
import type { DomainSeen, RegistrarSystem } from './registrar.ts';

type Domains = Map<string, DomainSeen>;

function correctRegistrar(domains: Domains, fence: Fence): Registrar {
  async function change(name: string, token: number, changed: Partial<DomainSeen>) {
    await fence.admit(`domain/${name}`, token);
    const domain = domains.get(name);
    if (domain === undefined) throw new Error(`There is no domain ${name}.`);
    domains.set(name, { ...domain, ...changed });
  }
  return {
    standardNameservers: ['ns1.provider.example', 'ns2.provider.example'],
    isAvailable: async (name) => !domains.has(name),
    async register({ name, contact: { handle }, nameservers }, token) {
      await fence.admit(`domain/${name}`, token);
      domains.set(name, { handle, nameservers, transferLock: false, dsRecords: [], renewed: true, expires: '2027-11-10' });
      return 'registered';
    },
    transfer: async () => 'refused',
    async withdraw(name, token) {
      await fence.admit(`domain/${name}`, token);
      domains.delete(name);
    },
    setNameservers: (name, nameservers, token) => change(name, token, { nameservers }),
    setTransferLock: (name, transferLock, token) => change(name, token, { transferLock }),
    setDsRecords: (name, dsRecords, token) => change(name, token, { dsRecords }),
    setContact: (name, { handle }, token) => change(name, token, { handle }),
    renew: (name, expires, token) => change(name, token, domains.get(name)?.expires === expires ? { expires: '2028-11-10' } : {}),
    setAuthcode: (name, _authcode, token) => change(name, token, {}),
    setRenewal: (name, renewed, token) => change(name, token, { renewed }),
  };
}

function casesOf(
  wrong: (correct: Registrar, domains: Domains) => Partial<Registrar> = () => ({}),
  omit = (registrar: Registrar) => registrar,
) {
  return registrarConformance(async (): Promise<RegistrarSystem> => {
    const domains: Domains = new Map();
    return {
      async open(fence) {
        const correct = correctRegistrar(domains, fence);
        return omit({ ...correct, ...wrong(correct, domains) });
      },
      domain: async (name) => domains.get(name),
      close: async () => {},
    };
  });
}

describe('a correct registrar', () => {
  test.each(casesOf())('$name', ({ run }) => expect(run()).resolves.toBeUndefined());
  test.each(casesOf(undefined, ({ setDsRecords: _omitted, ...registrar }) => registrar))('without DNSSEC: $name', ({ run }) =>
    expect(run()).resolves.toBeUndefined(),
  );
});

const MISTAKES: Readonly<Record<string, (correct: Registrar, domains: Domains) => Partial<Registrar>>> = {
  'ignores the transfer lock': () => ({ setTransferLock: async () => {} }),
  'never removes the transfer lock': (correct) => ({
    setTransferLock: (name, _locked, token) => correct.setTransferLock(name, true, token),
  }),
  'locks new domains': (correct) => ({
    async register(order, token) {
      const end = await correct.register(order, token);
      await correct.setTransferLock(order.name, true, token);
      return end;
    },
  }),
  'ignores tokens': (_correct, domains) => ({
    async setRenewal(name, renewed) {
      const domain = domains.get(name);
      if (domain) domains.set(name, { ...domain, renewed });
    },
  }),
  'renews again for a repeated call': (correct, domains) => ({
    async renew(name, expires, token) {
      await correct.renew(name, expires, token);
      const domain = domains.get(name);
      if (domain) domains.set(name, { ...domain, expires: `${Number(domain.expires?.slice(0, 4)) + 1}-11-10` });
    },
  }),
  'ignores DS records': () => ({ setDsRecords: async () => {} }),
  'adds DS records to those it has': (correct, domains) => ({
    setDsRecords: (name, records, token) =>
      correct.setDsRecords?.(name, [...(domains.get(name)?.dsRecords ?? []), ...records], token) ?? Promise.resolve(),
  }),
  'ignores another contact': () => ({ setContact: async () => {} }),
  'keeps a withdrawn domain': () => ({ withdraw: async () => {} }),
};

test.each(Object.entries(MISTAKES))('a registrar that %s is found', async (_, wrong) => {
  const ends = await Promise.allSettled(casesOf(wrong).map(({ run }) => run()));
  expect(ends.filter(({ status }) => status === 'rejected')).not.toEqual([]);
});
