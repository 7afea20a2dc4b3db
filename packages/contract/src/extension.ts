import type { Check } from './check.ts';
import type { Exchange } from './exchange.ts';
import type { Operation } from './operation.ts';
import type { Step } from './step.ts';

/** Rules of one API that no OpenAPI document can state, with the requests and checks that verify them. */
export interface Extension {
  readonly checks: readonly Check[];
  /** Further requests for an operation that a run calls for its effect; `call` is the plain request. */
  readonly steps: (operation: Operation, call: Step) => readonly Step[];
  /** Called with every response before the next request leaves; `responses` ends with that response. */
  readonly onExchange: (exchange: Exchange, exchanges: readonly Exchange[]) => Promise<void>;
}
