import type { Exchange } from '../exchange/exchange.ts';
import type { Pair } from '../judge/check.ts';
import type { UsableDocument } from '../judge/usable.ts';
import { createCleaner } from './clean-up.ts';
import type { Cleaner } from './clean-up.ts';
import type { ContractOptions } from './contract-options.ts';
import { createGuard } from './guard.ts';
import type { Guard } from './guard.ts';
import { accountOf } from './leftovers.ts';
import { countRequests, MAX_READ_ONLY_REQUESTS } from './plan.ts';
import type { Plan } from './plan.ts';
import { NO_BUDGET } from './price.ts';
import { paceOf } from './send-request.ts';
import type { Transport } from './send-request.ts';
import type { Step } from './step.ts';

const WRONG_KEY = 'contract-test-made-up-key';
const DEFAULT_TIMEOUT_MS = 10_000;

/** The state of a run. */
export interface Run extends UsableDocument {
  readonly options: ContractOptions;
  readonly transport: Transport;
  readonly comparedTransport: Transport | undefined;
  readonly guard: Guard;
  readonly cleaner: Cleaner;
  readonly exchanges: Exchange[];
  readonly pairs: Pair[];
  readonly unpaired: Exchange[];
  /** The reasons why operations were not verified, by id. */
  readonly reasons: Map<string, string>;
  /** The number of requests for each operation. */
  readonly sent: Map<string, number>;
  readonly mostPerOperation: number | undefined;
  readonly planned: number;
  done: number;
}

/** Creates the state of a run before its first request. */
export function prepareRun(options: ContractOptions, plan: Plan, usable: UsableDocument): Run {
  const { compare, mode = 'read-only' } = options;
  const mostPerOperation = mode === 'read-only' ? MAX_READ_ONLY_REQUESTS : undefined;
  function transportTo(target: URL, apiKey: string | undefined, steps: readonly Step[]): { transport: Transport; guard: Guard } {
    const keyOf: Transport['keyOf'] = (credential) => (credential === 'account' ? apiKey : credential === 'wrong' ? WRONG_KEY : undefined);
    const { budget = NO_BUDGET, priceOf = () => undefined, send = fetch, timeout = DEFAULT_TIMEOUT_MS, rate } = options;
    const guard = createGuard({ steps, target, keyOf, budget, priceOf, send, mostPerOperation });
    return { guard, transport: { target, send: guard.send, keyOf, timeout, pace: paceOf(rate) } };
  }
  const main = transportTo(options.target, options.apiKey, plan.steps);
  return {
    ...usable,
    ...main,
    options,
    comparedTransport:
      compare === undefined ? undefined : transportTo(compare.target, compare.apiKey, plan.steps.filter(isComparable)).transport,
    cleaner: createCleaner({
      ...usable,
      guard: main.guard,
      journal: options.journal,
      target: options.target,
      account: accountOf(options.apiKey),
      leftovers: plan.leftovers,
    }),
    exchanges: [],
    pairs: [],
    unpaired: [],
    reasons: new Map(plan.withheld),
    sent: new Map(),
    mostPerOperation,
    planned: countRequests(plan.steps, mode),
    done: 0,
  };
}

/** Whether a step is also sent to the compared service: it only reads, and needs no identifiers in its form. */
export function isComparable({ purpose, effect, path, form }: Step): boolean {
  const takesNothing = Object.keys(form?.found ?? {}).length === 0;
  return purpose === 'call' && effect === 'reads' && (path === 'none' || path === 'found') && takesNothing;
}
