/** The scheduled jobs of the model: set-ups, renewals and ends of runtimes, each at the time at which it is due. */
import type { Fleet } from '../../src/index.ts';
import { simulatedFleet } from '../../src/ports/simulated.ts';
import { renewalPrice } from './model-billing.ts';
import { advanceMonths } from './model-prices.ts';
import { charge } from './model.ts';
import type { Model, ModelAccount, ModelDomain, ModelServer, Seconds } from './model.ts';
import type { Simulation } from './simulation.ts';
import { anniversary } from './virtual-clock.ts';

/** Whether the fleet completes set-ups automatically, and after how many seconds. */
export type FleetSetUps = Pick<Fleet, 'automaticSetUp'>;

interface Job {
  readonly at: Seconds;
  readonly id: string;
  /** At the same time, jobs of servers run before jobs of domains. */
  readonly order: number;
  run(): void;
}

/** The time of the next job; undefined if there is none. */
export function nextJobTime(model: Model): Seconds | undefined {
  return jobsOf(model, simulatedFleet()).reduce<Seconds | undefined>((first, { at }) => Math.min(first ?? at, at), undefined);
}

/** Runs all jobs that are due in the order of their times, and closes the ended periods of all accounts. */
export function runAllJobs(model: Model, fleet: FleetSetUps, now: Seconds): void {
  runJobs(model, fleet, now, () => true);
  for (const account of model.accounts) advanceMonths(model, account, now);
}

/** Runs the jobs of one account that are due. The service does the same before each operation that bills or shows them. */
export function settleModel({ model, world, clock }: Pick<Simulation, 'model' | 'world' | 'clock'>, account: ModelAccount): void {
  runJobs(model, world.fleet, clock.seconds(), (one) => one.account === account);
  advanceMonths(model, account, clock.seconds());
}

function runJobs(model: Model, fleet: FleetSetUps, now: Seconds, which: (one: ModelServer | ModelDomain) => boolean): void {
  for (;;) {
    const [next] = jobsOf(model, fleet, which)
      .filter(({ at }) => at <= now)
      .toSorted((a, b) => a.at - b.at || a.order - b.order || (a.id < b.id ? -1 : 1));
    if (!next) return;
    next.run();
  }
}

function jobsOf(model: Model, fleet: FleetSetUps, which: (one: ModelServer | ModelDomain) => boolean = () => true): Job[] {
  const servers = model.servers.filter(which).flatMap((server): Job[] => {
    const { id, due: at } = server;
    return at === null ? [] : [{ at, id, order: 1, run: () => runServerJob(model, fleet, server, at) }];
  });
  const domains = [...model.domains.values()].filter(which).flatMap((domain): Job[] => {
    const { name, state, expires: at } = domain;
    return state === 'registered' ? [{ at, id: name, order: 2, run: () => runDomainJob(model, domain) }] : [];
  });
  return [...servers, ...domains];
}

function runServerJob(model: Model, fleet: FleetSetUps, server: ModelServer, at: Seconds): void {
  if (server.state === 'ordered') {
    if (fleet.automaticSetUp) completeServerSetUp(model, server, at);
    else server.due = null;
  } else if (server.terminated) {
    server.state = 'ended';
    server.due = null;
  } else {
    chargeRuntime(model, server, 'RENEW', at);
  }
}

/** Completes the set-up of a server. */
export function completeServerSetUp(model: Model, server: ModelServer, at: Seconds): void {
  server.state = 'deployed';
  chargeRuntime(model, server, 'CREATE', at);
}

function chargeRuntime(model: Model, server: ModelServer, type: string, at: Seconds): void {
  const { account, id, price, days } = server;
  if (!account) throw new Error(`The model has a server ${id} in use without an account.`);
  const stop = at + days * 86_400;
  server.due = stop;
  charge(model, { account, kind: 'dedicated', subject: id, type, start: at, stop, amount: price }, at);
}

/** The end of a further year of a domain. */
export function nextExpiry({ created, expires }: ModelDomain): Seconds {
  return anniversary(created, new Date(expires * 1000).getUTCFullYear() - new Date(created * 1000).getUTCFullYear() + 1);
}

function runDomainJob(model: Model, domain: ModelDomain): void {
  const { account, name, expires: start } = domain;
  if (domain.terminated) {
    model.domains.delete(name);
    model.lapsed.add(name);
    return;
  }
  domain.expires = nextExpiry(domain);
  const amount = renewalPrice(domain);
  charge(model, { account, kind: 'domains', subject: name, type: 'RENEW', start, stop: domain.expires, amount }, start);
}
