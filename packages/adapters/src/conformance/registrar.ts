/** The rules for each registrar, as cases for any test runner. */
import assert from 'node:assert/strict';

import type { DsRecord } from '../dns.ts';
import type { Fence, FencingToken } from '../fencing.ts';
import type { DomainOrder, Registrar } from '../registrar.ts';
import { conformanceCases, isStale } from './case.ts';
import type { ConformanceCase } from './case.ts';

export type { ConformanceCase } from './case.ts';

/** A domain as the system under the adapter shows it. */
export interface DomainSeen {
  /** Handle of its contact. */
  readonly handle: string;
  readonly nameservers: readonly string[];
  readonly transferLock: boolean;
  /** The DS records at the registry, by their key tags. Omit them if the adapter has no `setDsRecords`. */
  readonly dsRecords?: readonly DsRecord[];
  /** Whether it is renewed at its expiry. */
  readonly renewed: boolean;
  /** YYYY-MM-DD in UTC. Omit it if the system shows none; the case about renewals by hand then only repeats the call. */
  readonly expires?: string;
}

/** The system under an adapter, such as the test environment of a registry. */
export interface RegistrarSystem {
  /** Creates a new adapter with this fence, as a process does when it starts. */
  open(fence: Fence): Promise<Registrar>;
  /** A domain, or undefined if the registrar does not have it. Omit it for a simulation without domains; the cases then only check the tokens. */
  domain?(name: string): Promise<DomainSeen | undefined>;
  close(): Promise<void>;
}

export interface RegistrarConformanceOptions {
  /** The domain that the cases register, under a TLD that the system has. Its contact must be valid there. */
  readonly order?: Partial<DomainOrder>;
}

const ORDER: DomainOrder = {
  name: 'conformance-customer.net',
  contact: {
    handle: 'HDL-CONFORMANCE1',
    gender: 'FEMALE',
    firstname: 'Mara',
    lastname: 'Beispiel',
    organisation: null,
    street: 'Musterweg',
    number: '7',
    zipcode: '60311',
    city: 'Frankfurt',
    region: 'Hessen',
    countrycode: 'DE',
    email: 'mara@conformance-customer.example',
    phone: '+49.6955501234',
  },
  nameservers: ['ns1.provider.example', 'ns2.provider.example'],
};
const OTHER_HANDLE = 'HDL-CONFORMANCE2';
const DS_RECORDS: readonly DsRecord[] = [
  { keyTag: 0, algorithm: 13, digestType: 2, digest: '0123456789abcdef'.repeat(4) },
  { keyTag: 65_535, algorithm: 8, digestType: 4, digest: '0123456789abcdef'.repeat(6) },
];
const OTHER_NAMESERVERS = ['ns1.customer.example', 'ns2.customer.example', 'ns3.customer.example'];

interface Bench {
  readonly order: DomainOrder;
  /** The adapter after a restart of the process. */
  open(): Promise<Registrar>;
  /** The domain. Undefined if it does not exist, or the system shows none. */
  seen(): Promise<DomainSeen | undefined>;
  /** Fails unless the domain is as expected, or does not exist if that is undefined. */
  expectDomain(expected: Partial<DomainSeen> | undefined): Promise<void>;
}

/** A call that changes a registered domain, and the domain after it. */
interface Change {
  /** Whether the adapter omits the call. */
  isMissing?(registrar: Registrar): boolean;
  call(registrar: Registrar, token: FencingToken): Promise<unknown>;
  readonly after: Partial<DomainSeen>;
}

/** Every change, so that each is tested for its effect, for a repetition and for a stale token. */
function changesOf({ name, contact }: DomainOrder): Readonly<Record<string, Change>> {
  return {
    'other nameservers': {
      call: (registrar, token) => registrar.setNameservers(name, OTHER_NAMESERVERS, token),
      after: { nameservers: OTHER_NAMESERVERS },
    },
    'a transfer lock': { call: (registrar, token) => registrar.setTransferLock(name, true, token), after: { transferLock: true } },
    'no transfer lock': { call: (registrar, token) => registrar.setTransferLock(name, false, token), after: { transferLock: false } },
    'another contact': {
      call: (registrar, token) => registrar.setContact(name, { ...contact, handle: OTHER_HANDLE }, token),
      after: { handle: OTHER_HANDLE },
    },
    'two DS records': dsChange(name, DS_RECORDS),
    'another DS record': dsChange(name, DS_RECORDS.slice(1)),
    'no DS records': dsChange(name, []),
    'no renewal': { call: (registrar, token) => registrar.setRenewal(name, false, token), after: { renewed: false } },
    'renewal again': { call: (registrar, token) => registrar.setRenewal(name, true, token), after: { renewed: true } },
    'an auth code': { call: (registrar, token) => registrar.setAuthcode(name, 'Conformance1Code', token), after: {} },
    'no auth code': { call: (registrar, token) => registrar.setAuthcode(name, null, token), after: {} },
  };
}

function dsChange(name: string, dsRecords: readonly DsRecord[]): Change {
  return {
    isMissing: ({ setDsRecords }) => setDsRecords === undefined,
    call: (registrar, token) => registrar.setDsRecords?.(name, dsRecords, token) ?? Promise.resolve(),
    after: { dsRecords },
  };
}

const CASES: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  'a registered domain has its contact, its nameservers and no transfer lock': async ({ open, order, expectDomain }) => {
    const registrar = await open();
    assert.equal(await registrar.isAvailable(order.name), true);
    assert.equal(await registrar.register(order, 1), 'registered');
    await expectDomain({ handle: order.contact.handle, nameservers: order.nameservers, transferLock: false, renewed: true });
  },

  'each change has its effect, after a restart too, and can be repeated': async ({ open, order, expectDomain }) => {
    let token = 1;
    const expected: Partial<DomainSeen> = { handle: order.contact.handle };
    const registrar = await open();
    await registrar.register(order, token);
    const changes = Object.values(changesOf(order)).filter(({ isMissing }) => isMissing?.(registrar) !== true);
    for (const { call, after } of changes) {
      Object.assign(expected, after);
      token += 1;
      for (const _ of ['first', 'repeated']) {
        await call(await open(), token);
        await expectDomain(expected);
      }
    }
  },

  'a repeated renewal by hand renews once': async ({ open, order, seen, expectDomain }) => {
    await (await open()).register(order, 1);
    const { expires = '2027-11-10' } = (await seen()) ?? {};
    for (const token of [2, 3]) await (await open()).renew(order.name, expires, token);
    const shown = (await seen())?.expires;
    if (shown !== undefined) await expectDomain({ expires: `${Number(expires.slice(0, 4)) + 1}${expires.slice(4)}` });
  },

  'a stale call is rejected, and changes nothing': async ({ open, order, expectDomain }) => {
    const registrar = await open();
    await registrar.register(order, 1);
    await registrar.setTransferLock(order.name, true, 3);
    const before = { transferLock: true, renewed: true, nameservers: order.nameservers };
    const calls = [
      ...Object.values(changesOf(order)).flatMap(({ call, isMissing }) => (isMissing?.(registrar) === true ? [] : call)),
      () => registrar.renew(order.name, '2027-11-10', 2),
      () => registrar.withdraw(order.name, 2),
    ];
    for (const call of calls) await assert.rejects(async () => call(registrar, 2), isStale);
    await expectDomain(before);
  },

  'a withdrawn registration is gone, and can be withdrawn again': async ({ open, order, expectDomain }) => {
    const registrar = await open();
    await registrar.register(order, 1);
    for (const token of [2, 3]) await registrar.withdraw(order.name, token);
    await expectDomain(undefined);
  },
};

/**
 * The cases that every registrar without tasks passes. Each uses a system that it gets from `newSystem` and closes.
 *
 * @param newSystem Returns a system without the domain of the cases.
 */
export function registrarConformance(
  newSystem: () => Promise<RegistrarSystem>,
  { order = {} }: RegistrarConformanceOptions = {},
): readonly ConformanceCase[] {
  const wanted = { ...ORDER, ...order };
  return conformanceCases(CASES, newSystem, (system, fence) => ({
    order: wanted,
    open: () => system.open(fence),
    seen: async () => system.domain?.(wanted.name),
    expectDomain: (expected) => compareDomain(system, wanted.name, expected),
  }));
}

async function compareDomain(system: RegistrarSystem, name: string, expected: Partial<DomainSeen> | undefined): Promise<void> {
  if (!system.domain) return;
  const seen = await system.domain(name);
  if (expected === undefined || seen === undefined) return assert.equal(seen, expected);
  assert.deepEqual({ ...seen, ...expected }, seen, `The domain is ${JSON.stringify(seen)}, and not ${JSON.stringify(expected)}.`);
}
