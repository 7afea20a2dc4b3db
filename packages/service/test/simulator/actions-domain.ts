/** Operations of resellers and of the provider on domains and handles. */
import { expect } from 'vitest';

import type { OperationId } from '../../src/reseller/operation.ts';
import { GOOD_AUTHCODE, SIGNED, standardNameservers, TAKEN } from '../ports/registrar.ts';
import { ensureDnsRecord } from './actions-dns.ts';
import { tlds } from './catalogue.ts';
import type { Reply } from './client.ts';
import { decimal, units } from './fraction.ts';
import { creditFits, renewalPrice } from './model-billing.ts';
import { beginNameservers, mayGetNameservers, newDnssec } from './model-dnssec.ts';
import { nextExpiry, settleModel } from './model-jobs.ts';
import { charge, ownDomain, remove } from './model.ts';
import type { ModelAccount, ModelDomain } from './model.ts';
import { isAbove, randomGuard } from './price-guard.ts';
import type { PriceGuard } from './price-guard.ts';
import { runChange } from './provider-operations.ts';
import { invalid, noCredit, notFound, priceTooHigh, send, uncertain, wrongState } from './requests.ts';
import type { PlannedRequest, Prediction, Refused } from './requests.ts';
import type { Simulation } from './simulation.ts';
import { anniversary, monthAfter, monthOf } from './virtual-clock.ts';

const labels = ['alpha', 'beta', 'gamma', 'delta', `${TAKEN}alpha`, `${SIGNED}alpha`];

/** Registries allow no later expiry. */
const MAX_YEARS = 10;

const person = {
  gender: 'FEMALE',
  firstname: 'Ada',
  lastname: 'Weidenfels',
  street: 'Musterallee',
  number: '12a',
  zipcode: '60311',
  city: 'Frankfurt am Main',
  region: 'Hessen',
  countrycode: 'DE',
  email: 'ada@reseller-customer.example',
};

export function createHandle(sim: Simulation, account = sim.dice.pick(sim.model.accounts)): Promise<void> {
  const hasPhone = sim.dice.chance(0.6);
  return send(sim, {
    account,
    id: 'createHandle',
    sent: { form: { ...person, ...(hasPhone && { phone: '+49.6955501234' }) } },
    otherForm: { ...person, city: 'Offenbach' },
    predict: () => ({
      portUse: 'no port',
      refusal: undefined,
      reserve: () => ({
        release: () => {},
        confirm: (reply) => void account.handles.push({ id: reply.data().handle, hasPhone }),
      }),
    }),
  });
}

/** A registration or transfer that a reseller requests. */
export interface Registration {
  readonly account: ModelAccount;
  readonly name: string;
  readonly tld: string;
  readonly handle: string;
  readonly authcode: string | undefined;
}

/** @returns Undefined if the account does not have a handle yet. */
export function randomRegistration(sim: Simulation): Registration | undefined {
  const { dice, model } = sim;
  const account = dice.pick(model.accounts);
  // 5 % of the requests use the handle of another account.
  const owner = dice.chance(0.05) ? dice.pick(model.accounts) : account;
  const handle = dice.pickAny(owner.handles);
  const [tld] = dice.pick(tlds);
  const name = `${dice.pick(labels)}.${tld}`;
  const authcode = dice.chance(0.3) ? dice.pick([GOOD_AUTHCODE, 'not-the-code-1']) : undefined;
  return handle && { account, name, tld, handle: handle.id, authcode };
}

export function registerDomain(sim: Simulation): Promise<void> {
  const registration = randomRegistration(sim);
  if (!registration) return createHandle(sim);
  // Half of those who want a domain of another account have got its auth code.
  const authcode = sim.dice.chance(0.5) ? sim.model.domains.get(registration.name)?.authcode : undefined;
  return send(sim, plannedRegistration(sim, { ...registration, authcode: authcode ?? registration.authcode }));
}

export function domainFormOf({ name, handle, authcode }: Registration): Record<string, unknown> {
  return { domain: name, handle, ...(authcode !== undefined && { authcode }) };
}

/** The price of a registration or transfer in EUR. */
export function domainPrice({ tld, authcode }: Registration): ReturnType<typeof decimal> {
  const [, create = '', , transfer = ''] = tlds.find(([one]) => one === tld) ?? [];
  return decimal(authcode === undefined ? create : transfer);
}

function plannedRegistration(sim: Simulation, registration: Registration): PlannedRequest<'registerDomain'> {
  const { account, name, authcode } = registration;
  const guard = randomGuard(sim.dice, domainPrice(registration));
  const form = { ...domainFormOf(registration), ...guard };
  return {
    account,
    id: 'registerDomain',
    sent: { form },
    otherForm: { ...form, domain: `other-${name}` },
    predict() {
      const owner = sim.model.domains.get(name)?.account;
      if (owner) settleModel(sim, owner);
      const domain = sim.model.domains.get(name);
      return domain && authcode !== undefined ? predictMove(sim, registration, domain) : predictRegistration(sim, registration, guard);
    },
  };
}

function predictRegistration(sim: Simulation, registration: Registration, guard: PriceGuard): Prediction<'registerDomain'> {
  const { name, authcode } = registration;
  return {
    portUse: 'a port, and one to undo it',
    refusal: registerRefusal(sim, registration, guard),
    portRefusal:
      authcode !== undefined && authcode !== GOOD_AUTHCODE
        ? invalid
        : name.startsWith(authcode === undefined ? TAKEN : SIGNED)
          ? wrongState
          : undefined,
    reserve() {
      const { release, confirm } = reserveDomain(sim, registration);
      return {
        release,
        confirm(reply) {
          confirm();
          expect(reply.data().domain).toMatchObject({ name, tld: registration.tld, authcode: null, status: 'LOCK', terminated: false });
        },
      };
    },
  };
}

/** Predicts the transfer of a domain that an account of the service has, so that the registrar does not decide. */
function predictMove(sim: Simulation, registration: Registration, domain: ModelDomain): Prediction<'registerDomain'> {
  const { account, handle } = registration;
  return {
    portUse: 'no port',
    refusal: moveRefusal(sim, registration, domain),
    reserve: () => ({
      release: () => {},
      confirm(reply) {
        const nameservers = standardNameservers.slice(0, 2);
        beginNameservers(domain, nameservers, sim.clock.seconds());
        Object.assign(domain, { account, handle, authcode: null, terminated: false, nameservers });
        expect(reply.data().domain).toMatchObject({ name: domain.name, authcode: null, terminated: false });
      },
    }),
  };
}

function moveRefusal({ model, clock }: Simulation, registration: Registration, domain: ModelDomain): Refused | undefined {
  const { account, authcode } = registration;
  if (!hasHandle(registration)) return invalid;
  if (domain.account === account || domain.state === 'reserved') return wrongState;
  if (authcode !== domain.authcode) return invalid;
  if (domain.state !== 'registered' || domain.transferLock) return wrongState;
  if (!mayGetNameservers(domain, standardNameservers.slice(0, 2), clock.seconds())) return wrongState;
  const needed = domain.expires < monthAfter(monthOf(clock.seconds())) ? units(renewalPrice(domain)) : 0n;
  return creditFits(model, account, needed, clock.seconds()) ? undefined : noCredit;
}

/** Whether the account has the handle, with what the TLD requires. */
function hasHandle({ account, tld, handle: wanted }: Pick<Registration, 'account' | 'tld' | 'handle'>): boolean {
  const handle = account.handles.find(({ id }) => id === wanted);
  return handle !== undefined && (tld !== 'de' || handle.hasPhone);
}

function registerRefusal(sim: Simulation, registration: Registration, guard: PriceGuard): Refused | undefined {
  const { model, clock } = sim;
  const { account, name } = registration;
  if (!hasHandle(registration)) return invalid;
  if (model.domains.has(name)) return wrongState;
  if (isAbove(domainPrice(registration), guard)) return priceTooHigh;
  return creditFits(model, account, units(domainPrice(registration)), clock.seconds()) ? undefined : noCredit;
}

/** Reserves a domain and holds its price in the model. The account is charged when the domain is registered. */
export function reserveDomain(sim: Simulation, registration: Registration): { confirm(): void; release(): void } {
  const { model, clock } = sim;
  const { account, name, tld, handle, authcode } = registration;
  const now = clock.seconds();
  const stop = anniversary(now, 1);
  const [ns1 = '', ns2 = ''] = standardNameservers;
  const begun = { created: now, expires: stop, terminated: false, authcode: null, nameservers: [ns1, ns2], transferLock: false };
  const dnssec = newDnssec(authcode !== undefined, now);
  const domain: ModelDomain = { name, account, tld, handle, state: 'reserved', ...begun, dnssec, records: [] };
  const price = domainPrice(registration);
  const hold = { account, amount: units(price) };
  model.domains.set(name, domain);
  model.holds.push(hold);
  return {
    confirm() {
      domain.state = 'registered';
      settleModel(sim, account);
      remove(model.holds, hold);
      const registered = {
        account,
        kind: 'domains',
        subject: name,
        type: authcode === undefined ? 'CREATE' : 'TRANSFER',
        start: now,
        stop,
      } as const;
      charge(model, { ...registered, amount: price }, clock.seconds());
    },
    release() {
      model.domains.delete(name);
      remove(model.holds, hold);
    },
  };
}

/** A reseller changes a domain. */
export async function changeDomain(sim: Simulation): Promise<void> {
  const domain = sim.dice.pickAny([...sim.model.domains.values()]);
  if (!domain) return registerDomain(sim);
  const { account, name } = domain;
  switch (sim.dice.pick(['nameserver', 'authcode', 'lock', 'handle', 'renew', 'undelete', 'dns'])) {
    case 'nameserver':
      return setNameservers(sim, account, name);
    case 'authcode':
      return requestAuthcode(sim, account, name);
    case 'renew':
      return renew(sim, account, name);
    case 'handle':
      return setHandle(sim, account, name);
    case 'lock':
      return setTransferLock(sim, account, name);
    case 'undelete':
      return undelete(sim, account, name);
    default:
      return ensureDnsRecord(sim, account, name);
  }
}

function setNameservers(sim: Simulation, account: ModelAccount, name: string): Promise<void> {
  const count = sim.dice.integer(2, 5);
  const numbers = [1, 2, 3, 4, 5].slice(0, count);
  const wanted = numbers.map((number) => (sim.dice.chance(0.3) ? 'default' : `ns${number}.${name}`));
  const nameservers = wanted.map((text, index) => (text === 'default' ? (standardNameservers[index] ?? '') : text));
  const form = Object.fromEntries(wanted.map((text, index) => [`ns${index + 1}`, text]));
  return send(sim, {
    account,
    id: 'setDomainNameservers',
    sent: { path: { domain: name }, form },
    otherForm: { ns1: 'ns1.other.example', ns2: 'ns2.other.example' },
    predict: () =>
      predictRegistrarChange(sim, account, name, {
        isAllowed: (domain) => mayGetNameservers(domain, nameservers, sim.clock.seconds()),
        begun: (domain) => beginNameservers(domain, nameservers, sim.clock.seconds()),
        confirmed: (domain) => (domain.nameservers = nameservers),
      }),
  });
}

function requestAuthcode(sim: Simulation, account: ModelAccount, name: string): Promise<void> {
  return send(sim, {
    account,
    id: 'requestDomainAuthcode',
    sent: { path: { domain: name } },
    predict: () =>
      predictRegistrarChange(sim, account, name, {
        confirmed: (domain, reply: Reply<'requestDomainAuthcode'>) => (domain.authcode = reply.data().authcode),
        // It is unknown which code the registrar has, so the service returns none.
        released: (domain) => (domain.authcode = null),
      }),
  });
}

function setTransferLock(sim: Simulation, account: ModelAccount, name: string): Promise<void> {
  const locked = sim.dice.chance(0.5);
  return send(sim, {
    account,
    id: 'setDomainTransferLock',
    sent: { path: { domain: name }, form: { transfer_lock: locked } },
    otherForm: { transfer_lock: !locked },
    predict: () => predictRegistrarChange(sim, account, name, { confirmed: (domain) => void (domain.transferLock = locked) }),
  });
}

function setHandle(sim: Simulation, account: ModelAccount, name: string): Promise<void> {
  const handle = sim.dice.pickAny(account.handles)?.id ?? 'HDL-UNKNOWN22222';
  return send(sim, {
    account,
    id: 'setDomainHandle',
    sent: { path: { domain: name }, form: { handle } },
    otherForm: { handle: 'HDL-UNKNOWN33333' },
    predict() {
      const domain = ownDomain(sim.model, account, name);
      const change = predictRegistrarChange(sim, account, name, { confirmed: (changed) => void (changed.handle = handle) });
      return domain && !hasHandle({ account, tld: domain.tld, handle }) ? { ...change, refusal: invalid } : change;
    },
  });
}

function renew(sim: Simulation, account: ModelAccount, name: string): Promise<void> {
  const { model, clock } = sim;
  const price = renewalPrice({ tld: model.domains.get(name)?.tld ?? '' });
  const guard = randomGuard(sim.dice, price);
  // A second renewal without an expiry is refused for a minute, so each names one: mostly the present one.
  const present = model.domains.get(name)?.expires ?? clock.seconds();
  const named = sim.dice.chance(0.85) ? present : present + 86_400;
  const expire = new Date(named * 1000).toISOString().slice(0, 19).replace('T', ' ');
  return send(sim, {
    account,
    id: 'renewDomain',
    sent: { path: { domain: name }, form: { ...guard, expire } },
    otherForm: { max_price: '987.65' },
    predict() {
      const domain = ownDomain(model, account, name);
      const now = clock.seconds();
      const stop = domain && nextExpiry(domain);
      // What its renewal of this month holds already.
      const held = domain && domain.expires < monthAfter(monthOf(now)) ? units(price) : 0n;
      return {
        portUse: 'no port',
        refusal:
          !domain || stop === undefined
            ? notFound
            : domain.terminated || stop > anniversary(now, MAX_YEARS) || named !== domain.expires
              ? wrongState
              : isAbove(price, guard)
                ? priceTooHigh
                : domain.state !== 'registered'
                  ? wrongState
                  : creditFits(model, account, units(price) - held, now)
                    ? undefined
                    : noCredit,
        reserve: () => ({
          release: () => {},
          confirm() {
            if (!domain || stop === undefined) throw new Error(`The model has no domain ${name}.`);
            charge(model, { account, kind: 'domains', subject: name, type: 'RENEW', start: domain.expires, stop, amount: price }, now);
            domain.expires = stop;
          },
        }),
      };
    },
  });
}

function undelete(sim: Simulation, account: ModelAccount, name: string): Promise<void> {
  return send(sim, {
    account,
    id: 'undeleteDomain',
    sent: { path: { domain: name } },
    predict: () =>
      predictRegistrarChange(sim, account, name, {
        isAllowed: ({ terminated }) => terminated,
        needed: (domain) => (domain.expires < monthAfter(monthOf(sim.clock.seconds())) ? units(renewalPrice(domain)) : 0n),
        begun: (domain) => void (domain.terminated = false),
        released: (domain) => void (domain.terminated = true),
        confirmed: () => {},
      }),
  });
}

interface DomainChange<Id extends OperationId> {
  isAllowed?(domain: ModelDomain): boolean;
  /** The credit that the change needs, in units. */
  needed?(domain: ModelDomain): bigint;
  begun?(domain: ModelDomain): void;
  confirmed(domain: ModelDomain, reply: Reply<Id>): void;
  released?(domain: ModelDomain): void;
}

/** Predicts a change that the registrar carries out. A domain has at most one such change at a time. */
export function predictRegistrarChange<Id extends OperationId>(
  sim: Simulation,
  account: ModelAccount,
  name: string,
  { isAllowed = () => true, needed = () => 0n, begun, confirmed, released }: DomainChange<Id>,
): Prediction<Id> {
  const found = ownDomain(sim.model, account, name);
  return {
    portUse: 'a port, and one to undo it',
    ...((begun ?? released) && { portFailure: uncertain }),
    refusal: !found
      ? notFound
      : found.state !== 'registered' || !isAllowed(found)
        ? wrongState
        : creditFits(sim.model, account, needed(found), sim.clock.seconds())
          ? undefined
          : noCredit,
    reserve() {
      const domain = ownDomain(sim.model, account, name);
      if (!domain) throw new Error(`The model has no domain ${name}.`);
      domain.state = 'changing';
      begun?.(domain);
      return {
        release() {
          domain.state = 'registered';
          released?.(domain);
        },
        confirm(reply) {
          domain.state = 'registered';
          confirmed(domain, reply);
        },
      };
    },
  };
}

/** The provider cancels a domain. If the registrar fails twice, a scheduled job repeats the call. */
export async function cancelDomain(sim: Simulation): Promise<void> {
  const { dice, model, client, openRequests } = sim;
  const domain = dice.pickAny([...model.domains.values()].filter(({ name }) => !openRequests.some(({ subject }) => subject === name)));
  if (!domain) return registerDomain(sim);
  const { name, state, account } = domain;
  const refusal = state === 'reserved' ? notFound : state === 'changing' ? wrongState : undefined;
  settleModel(sim, account);
  sim.describe(`the provider cancels the domain ${name}`);
  const outcome = await runChange(sim, () => client.service().domains.terminate(name), { refusal, callsPort: true, isUndone: false });
  if (outcome === 'refused') return;
  domain.terminated = true;
  if (outcome !== 'interrupted') return;
  domain.state = 'changing';
  const release = () => void (domain.state = 'registered');
  openRequests.push({ delivery: 'terminateDomain', key: undefined, account, subject: name, hanging: undefined, release });
}
