/**
 * What calls that change something need beyond being sent: the spend guard, and a memory by which `reconcile` tells one request from
 * another. Loaded when the first such call is made; programs that only read never load it.
 */
import { reconcile, recover } from './reconcile.ts';
import type { LostRequest, Reconciliation, ReconcileOptions } from './reconcile.ts';
import type { Reseller } from './reseller.ts';
import { OutcomeUnknownError, SpendRefusedError } from './runtime/errors.ts';
import type { ClientConfig, Clock } from './runtime/options.ts';
import type { Prepared, Read } from './runtime/request.ts';

/** The request log, in part and whole. */
export type Log = Pick<Reseller['account'], 'requests' | 'allRequests'>;

/** What a client remembers. */
export interface Memory {
  readonly clock: Clock;
  readonly log: Log;
  /** Requests that were answered: they can be no others. */
  readonly answered: Set<string>;
  /** The newest of them. */
  newest?: string;
  /** Requests that may not be sent twice and whose outcome is not known yet. */
  readonly open: Set<LostRequest>;
}

/** The purchases of one client, and whatever else changes something. */
export interface Purchases {
  /** Around a request, however often it is sent; `read` makes the result of an answer that was found in the log. */
  around<T extends object>(prepared: Prepared, send: () => Promise<T>, read: Read<T>): Promise<T>;
  /** Asks the spend guard, and gives back what it took out of the budget. */
  rehearse(prepared: Prepared): Promise<void>;
  reconcile(error: OutcomeUnknownError, options?: ReconcileOptions): Promise<Reconciliation>;
}

/** How many identifiers of answered requests are remembered: later ones push out earlier ones. */
const REMEMBERED = 1_000;

export function purchasesOf(
  { beforeBillable, budget, dryRun }: Pick<ClientConfig, 'beforeBillable' | 'budget' | 'dryRun'>,
  clock: Clock,
  log: Log,
): Purchases {
  const memory: Memory = { clock, log, answered: new Set(), open: new Set() };
  const { answered, open } = memory;
  /** The requests behind errors; not in the errors themselves, where a log might show them. */
  const lost = new WeakMap<OutcomeUnknownError, LostRequest>();
  const { limit = Infinity, priceOf } = budget ?? {};
  let spent = 0;

  /** Keeps the identifier of an answered request. */
  function remember({ requestID }: { requestID?: string | null | undefined }): void {
    if (!requestID) return;
    memory.newest = requestID;
    const [oldest = ''] = answered.add(requestID);
    if (answered.size > REMEMBERED) answered.delete(oldest);
  }

  /** Asks the spend guard. @returns What gives the price back. */
  async function authorise({ plan, is, options, fail }: Prepared): Promise<() => void> {
    if (dryRun) throw fail(SpendRefusedError, 'refused by dryRun');
    if (!is('b')) return () => {};
    const purchase = { operation: plan.operation, path: Object(options.path), form: Object(options.body) };
    let price: number;
    try {
      await beforeBillable?.(purchase);
      price = (await priceOf?.(purchase)) ?? 1;
    } catch (cause) {
      throw fail(SpendRefusedError, 'refused by beforeBillable or priceOf', {}, cause);
    }
    // Turned round so that a price that is not a number is refused.
    if (!(price >= 0 && spent + price <= limit)) throw fail(SpendRefusedError, `refused by the budget: ${spent} + ${price} > ${limit}`);
    spent += price;
    return () => void (spent -= price);
  }

  return {
    async rehearse(prepared) {
      (await authorise(prepared))();
    },
    async around(prepared, send, read) {
      const { plan, is, options, key, sent, fail } = prepared;
      const refund = await authorise(prepared);
      if (is('s')) return send();
      // Each request has an order of its own, by which the log tells it from others like it; the same key gives the same order.
      sent.sort((one, other) => hash(key + one) - hash(key + other));
      const request: LostRequest = {
        plan,
        fields: [...new URLSearchParams(sent.join('&'))],
        sentAt: clock.now(),
        after: memory.newest,
        settle(committed) {
          open.delete(request);
          if (!committed) refund();
        },
      };
      open.add(request);
      try {
        const result = await send();
        remember(Object(result));
        request.settle(true);
        return result;
      } catch (error) {
        remember(Object(error));
        if (!(error instanceof OutcomeUnknownError)) {
          request.settle(false);
          throw error;
        }
        lost.set(error, request);
        if (!options.reconcile || options.signal?.aborted) throw error;
        const { answer, masked } = recover(await reconcile(memory, request, error), error, fail);
        return Object.assign(await read(answer, fail, error.attempts), { masked });
      }
    },
    async reconcile(error, options) {
      const request = lost.get(error);
      if (!request) throw new TypeError('This error was not thrown by this client. Give it to the one that made the call.');
      return reconcile(memory, request, error, options);
    },
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0;
  for (const sign of text) value = Math.imul(value ^ sign.charCodeAt(0), 16_777_619);
  return value;
}
