import { NOTHING_GIVEN } from '../document/parameters.ts';
import type { PathValues } from '../exchange/discover.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { createFailures } from '../judge/failures.ts';
import type { Failures } from '../judge/failures.ts';
import type { UsableDocument } from '../judge/usable.ts';
import { Cleaner } from './clean-up.ts';
import type { ContractOptions } from './contract-options.ts';
import { createCredentials } from './credentials.ts';
import type { Credentials } from './credentials.ts';
import { createGuard } from './guard.ts';
import type { Guard } from './guard.ts';
import { accountOf } from './leftovers.ts';
import { Ownership } from './ownership.ts';
import type { Made } from './ownership.ts';
import { countRequests, MAX_READ_ONLY_REQUESTS } from './plan.ts';
import type { Plan } from './plan.ts';
import type { Naming } from './planning.ts';
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
  readonly guard: Guard;
  /** Why the run may not send a step; see `Ownership`. */
  readonly refusal: (step: Step, path: PathValues) => string | undefined;
  readonly ownership: Ownership;
  readonly cleaner: Cleaner;
  readonly exchanges: Exchange[];
  /** The resources that the exchanges made. */
  readonly made: Map<Exchange, Made>;
  /** The reasons why operations were not verified, by id. */
  readonly reasons: Map<string, string>;
  /** The errors after the first request. */
  readonly failures: Failures;
  /** The reads that can show the progress of accepted work. */
  readonly pollSteps: readonly Step[];
  /** The number of requests for each operation. */
  readonly sent: Map<string, number>;
  readonly mostPerOperation: number | undefined;
  readonly planned: number;
  done: number;
}

function hasSchemes({ credentials = {} }: ContractOptions): boolean {
  return Object.keys(credentials).length > 0;
}

/** What identifies the account in the journal; undefined without a credential. */
export function accountKey(options: ContractOptions): string | undefined {
  return hasSchemes(options) ? JSON.stringify([options.apiKey, options.credentials]) : options.apiKey;
}

/** The credentials for the operations of a plan. */
export function credentialsFor(options: ContractOptions, { steps }: Pick<Plan, 'steps'>): Credentials {
  const { document, target, apiKey, credentials: given = {}, onToken = () => {} } = options;
  const { headers } = options.given ?? NOTHING_GIVEN;
  const operations = [...new Set(steps.map(({ operation }) => operation))];
  return createCredentials({ document, operations, target, apiKey, given, headers, onToken });
}

/** Creates the state of a run before its first request. */
export function prepareRun(options: ContractOptions, plan: Plan, usable: UsableDocument): Run {
  const { mode = 'read-only' } = options;
  const mostPerOperation = mode === 'read-only' ? MAX_READ_ONLY_REQUESTS : undefined;
  const credentials = credentialsFor(options, plan);
  const keyOf: Transport['keyOf'] = (credential, key) =>
    credential === 'account' ? credentials.keyFor(key) : credential === 'wrong' ? WRONG_KEY : undefined;
  const {
    budget = NO_BUDGET,
    priceOf = () => undefined,
    send = fetch,
    target,
    timeout = DEFAULT_TIMEOUT_MS,
    rate,
    given = NOTHING_GIVEN,
  } = options;
  const naming: Naming = { names: new Map([...(options.only ?? []), ...(options.also ?? [])]), given };
  const ownership = new Ownership({ ...usable, naming });
  const cleaner = new Cleaner({
    ...usable,
    ownership,
    journal: options.journal,
    target,
    account: accountOf(accountKey(options)),
    leftovers: plan.leftovers,
  });
  function refusal(step: Step, path: PathValues): string | undefined {
    if (step.undoes === undefined) return ownership.refusal(step, path);
    return cleaner.mayUndo(step) ? undefined : 'it may be another resource than the one that an earlier run made';
  }
  const canRenew = hasSchemes(options);
  const guard = createGuard({ steps: plan.steps, refusal, target, keyOf, budget, priceOf, send, canRenew, mostPerOperation });
  return {
    ...usable,
    guard,
    refusal,
    ownership,
    transport: { target, send: guard.send, keyOf, timeout, pace: paceOf(rate), headers: given.headers, renew: credentials.renew },
    options,
    cleaner,
    exchanges: [],
    made: new Map(),
    reasons: new Map(plan.withheld),
    failures: createFailures(),
    pollSteps: plan.steps.filter(({ purpose }) => purpose === 'poll'),
    sent: new Map(),
    mostPerOperation,
    planned: countRequests(plan.steps, mode),
    done: 0,
  };
}
