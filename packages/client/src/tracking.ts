/** What the whole client does around a request: the spend guard, events, and a memory of what was sent and answered. */
import { listRequests } from './generated/operations.gen.ts';
import { OutcomeUnknownError, ResellerError, SpendRefusedError } from './runtime/errors.ts';
import type { Values } from './runtime/form.ts';
import type { Client, ClientConfig, Extras } from './runtime/options.ts';
import type { Prepared } from './runtime/prepare.ts';
import { redact } from './runtime/redact.ts';

/** A request that is known to be in the log. */
export interface Anchor {
  readonly requestID: string;
  /** When its answer was there, by the client's clock. */
  readonly at: number;
}

/** What a client remembers. */
export interface Memory {
  client?: Client;
  /** How much of the budget is spent. */
  spent: number;
  /** The newest request that was answered. */
  anchor?: Anchor;
  /** Requests that were answered: they can be no others. */
  readonly answered: Set<string>;
  /** How many requests without a known outcome there are, by signature. */
  readonly open: Map<string, number>;
}

/** A request whose answer was lost, as `reconcile` needs it. */
export interface LostRequest {
  readonly memory: Memory;
  readonly operation: string;
  readonly method: string;
  /** The path, as it was called. */
  readonly path: string;
  readonly form: Values;
  /** By the client's clock. */
  readonly sentAt: number;
  /** The newest request that the client knew to be in the log when it sent this one. */
  readonly anchor: Anchor | undefined;
  /** The same for all requests with the same path and form. */
  readonly signature: string;
  /** Takes it out of the requests without a known outcome, and gives its price back where it had no effect. */
  settle(committed: boolean): void;
}

/** Finds out what became of a lost request. */
export type Recover = (
  client: Client,
  error: OutcomeUnknownError,
) => Promise<{ readonly body: string; readonly masked: readonly string[] }>;

/** The lost request behind an error; not in the error itself, where a log might show it. */
export const lostRequests: WeakMap<OutcomeUnknownError, LostRequest> = new WeakMap();

/** Later requests push out the identifiers of earlier ones. */
const MOST_REMEMBERED = 1_000;

/** The extras of one client, whose memory gets the client as soon as there is one. */
export function track(config: ClientConfig, memory: Memory, recover: Recover): Extras {
  const { beforeBillable, budget, onEvent } = config;
  const { answered, open } = memory;
  const began = new WeakMap<Prepared, number>();
  const now = () => memory.client?.clock.now() ?? 0;

  /** Keeps the identifier of an answered request. */
  function remember(requestID: unknown): void {
    if (typeof requestID !== 'string') return;
    memory.anchor = { requestID, at: now() };
    answered.add(requestID);
    const [oldest = ''] = answered;
    if (answered.size > MOST_REMEMBERED) answered.delete(oldest);
  }

  /** An anchor for a client that has none yet. An empty log has an entry at the second look: that of the first. */
  async function findAnchor(client: Client): Promise<void> {
    for (let look = 0; look < 2 && !memory.anchor; look++) {
      const [newest] = await listRequests(client);
      if (newest) memory.anchor = { requestID: newest.requestID, at: now() };
    }
  }

  async function authorise({ facts, form, pathValues, failure }: Prepared): Promise<() => void> {
    const refuse = (why: string, cause?: unknown) =>
      new SpendRefusedError(`${facts.id}: refused by ${why}. Nothing was sent.`, failure(0), cause);
    if (config.dryRun && !facts.reads) throw refuse('dryRun');
    const purchase = { operation: facts.id, path: pathValues, form };
    let price = 0;
    if (facts.billable) {
      try {
        await beforeBillable?.(purchase);
        price = budget ? ((await budget.priceOf?.(purchase)) ?? 1) : 0;
      } catch (cause) {
        throw refuse('beforeBillable or priceOf', cause);
      }
      // Turned round so that a price that is not a number is refused.
      if (budget && !(price >= 0 && memory.spent + price <= budget.limit))
        throw refuse(`the budget: ${memory.spent} + ${price} > ${budget.limit}`);
    }
    memory.spent += price;
    return () => void (memory.spent -= price);
  }

  return {
    rehearse: async (prepared) => (await authorise(prepared))(),
    tell(prepared, attempt, what) {
      if (!onEvent) return;
      const { facts, method, url, form } = prepared;
      if (what.type === 'request') began.set(prepared, now());
      const about = { operation: facts.id, attempt, method, url, form: redact(form), milliseconds: now() - (began.get(prepared) ?? 0) };
      // Out of the call's way: what it throws does not touch the call.
      queueMicrotask(() => onEvent({ ...about, ...what }));
    },
    async around(prepared, send, read) {
      const { client } = memory;
      const { facts, options, method, path, form, init } = prepared;
      const run = () =>
        send().then(
          (result) => {
            remember(Reflect.get(result, 'requestID'));
            return result;
          },
          (error: unknown) => {
            if (error instanceof ResellerError) remember(error.requestID);
            throw error;
          },
        );
      const refund = await authorise(prepared);
      if (facts.safe || !client) return run();
      const signature = `${method} ${path} ${String(init.body)}`;
      const count = (step: number) => open.set(signature, (open.get(signature) ?? 0) + step);
      const settle = (committed: boolean) => {
        count(-1);
        if (!committed) refund();
      };
      count(1);
      let request: LostRequest | undefined;
      try {
        if (options.reconcile) await findAnchor(client);
        const { anchor } = memory;
        request = { memory, operation: facts.id, method, path, form, sentAt: now(), anchor, signature, settle };
        const result = await run();
        settle(true);
        return result;
      } catch (error) {
        if (!(error instanceof OutcomeUnknownError && request)) {
          settle(false);
          throw error;
        }
        lostRequests.set(error, request);
        if (!options.reconcile || options.signal?.aborted) throw error;
        const { body, masked } = await recover(client, error);
        return Object.assign(await read(new Response(body), error.attempts), { masked });
      }
    },
  };
}
