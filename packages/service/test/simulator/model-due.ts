/** The scheduled events that the model expects: set-ups, renewals and ends, each at the instant at which it is due. */
import type { Fleet } from '../../src/index.ts';
import { simulatedFleet } from '../../src/ports/fleet.ts';
import { tlds } from './catalogue.ts';
import { decimal } from './fraction.ts';
import { turnMonths } from './model-prices.ts';
import { charge } from './model.ts';
import type { Model, ModelAccount, ModelDomain, ModelServer, Seconds } from './model.ts';
import type { Simulation } from './simulation.ts';
import { anniversary } from './virtual-clock.ts';

/** How the fleet completes set-ups: by itself after some seconds, or by hand. */
export type FleetSetUps = Pick<Fleet, 'automaticSetUp'>;

interface Event {
  readonly at: Seconds;
  readonly id: string;
  /** Of what is due at one instant, servers go before domains. */
  readonly order: number;
  happen(): void;
}

/** The time of the next scheduled event; undefined if there is none. */
export function nextDue(model: Model): Seconds | undefined {
  return eventsOf(model, simulatedFleet()).reduce<Seconds | undefined>((first, { at }) => Math.min(first ?? at, at), undefined);
}

/** Does all that is due, in the order of time; the periods of every account are closed up to now. */
export function runAllJobs(model: Model, fleet: FleetSetUps, now: Seconds): void {
  doWhatIsDue(model, fleet, now, () => true);
  for (const account of model.accounts) turnMonths(model, account, now);
}

/** Does what is due of an account, which each operation that bills or shows it does first. */
export function settleModel({ model, world, clock }: Pick<Simulation, 'model' | 'world' | 'clock'>, account: ModelAccount): void {
  doWhatIsDue(model, world.fleet, clock.seconds(), (one) => one.account === account);
  turnMonths(model, account, clock.seconds());
}

function doWhatIsDue(model: Model, fleet: FleetSetUps, now: Seconds, which: (one: ModelServer | ModelDomain) => boolean): void {
  for (;;) {
    const [next] = eventsOf(model, fleet, which)
      .filter(({ at }) => at <= now)
      .toSorted((a, b) => a.at - b.at || a.order - b.order || (a.id < b.id ? -1 : 1));
    if (!next) return;
    next.happen();
  }
}

function eventsOf(model: Model, fleet: FleetSetUps, which: (one: ModelServer | ModelDomain) => boolean = () => true): Event[] {
  const servers = model.servers.filter(which).flatMap((server): Event[] => {
    const { id, due: at } = server;
    return at === null ? [] : [{ at, id, order: 1, happen: () => serverIsDue(model, fleet, server, at) }];
  });
  const domains = [...model.domains.values()].filter(which).flatMap((domain): Event[] => {
    const { name, state, expires: at } = domain;
    return state === 'registered' ? [{ at, id: name, order: 2, happen: () => domainIsDue(model, domain) }] : [];
  });
  return [...servers, ...domains];
}

function serverIsDue(model: Model, fleet: FleetSetUps, server: ModelServer, at: Seconds): void {
  if (server.state === 'ordered') {
    if (fleet.automaticSetUp) deploy(model, server, at);
    else server.due = null;
  } else if (server.terminated) {
    server.state = 'ended';
    server.due = null;
  } else {
    beginRuntime(model, server, 'RENEW', at);
  }
}

/** A set-up completes. */
export function deploy(model: Model, server: ModelServer, at: Seconds): void {
  server.state = 'deployed';
  beginRuntime(model, server, 'CREATE', at);
}

function beginRuntime(model: Model, server: ModelServer, type: string, at: Seconds): void {
  const { account, id, price, days } = server;
  if (!account) throw new Error(`The model has a server ${id} in use without an account.`);
  const stop = at + days * 86_400;
  server.due = stop;
  charge(model, { account, kind: 'dedicated', subject: id, type, start: at, stop, amount: price }, at);
}

function domainIsDue(model: Model, domain: ModelDomain): void {
  const { account, name, tld, created, expires: start } = domain;
  if (domain.terminated) {
    model.domains.delete(name);
    model.lapsed.add(name);
    return;
  }
  const years = new Date(start * 1000).getUTCFullYear() - new Date(created * 1000).getUTCFullYear() + 1;
  domain.expires = anniversary(created, years);
  const [, , renewal = ''] = tlds.find(([one]) => one === tld) ?? [];
  charge(model, { account, kind: 'domains', subject: name, type: 'RENEW', start, stop: domain.expires, amount: decimal(renewal) }, start);
}
