import type { Operation } from '../document/operation.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Check } from '../judge/check.ts';
import type { Step } from './step.ts';

/** Rules of one API that no OpenAPI document can state, with the requests and checks that verify them. */
export interface Extension {
  readonly checks: readonly Check[];
  /** Additional requests for an operation that changes state; `call` is the plain request. */
  readonly steps: (operation: Operation, call: Step) => readonly Step[];
  /** Called after every response, before the next request; `exchanges` ends with that exchange. */
  readonly onExchange: (exchange: Exchange, exchanges: readonly Exchange[]) => Promise<void>;
}
