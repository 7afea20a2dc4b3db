/** What the whole client does around a request: the spend guard, events, and a memory of what was sent and answered. */
import type { Operations } from './generated/operations.gen.ts';
import { recover } from './reconcile.ts';
import type { Reconciliation } from './reconcile.ts';
import { OutcomeUnknownError, SpendRefusedError } from './runtime/errors.ts';
import type { ClientConfig, Clock, Extras } from './runtime/options.ts';
import type { Prepared } from './runtime/prepare.ts';

/** A request that is known to be in the log. */
export interface Anchor {
  readonly requestID: string;
  /** When its answer was there, by the client's clock. */
  readonly at: number;
}

/** What a client remembers. */
export interface Memory {
  readonly clock: Clock;
  readonly log: Operations['listRequests'];
  /** The newest request that was answered. */
  anchor?: Anchor;
  /** Requests that were answered: they can be no others. */
  readonly answered: Set<string>;
  /** Requests that may not be sent twice and whose outcome is not known yet. */
  readonly open: Set<Prepared>;
  /** The requests behind errors; not in the errors themselves, where a log might show them. */
  readonly lost: WeakMap<OutcomeUnknownError, LostRequest>;
}

/** A request whose answer was lost, as `reconcile` needs it. */
export interface LostRequest extends Prepared {
  /** By the client's clock. */
  readonly sentAt: number;
  /** The newest request that the client knew to be in the log when it sent this one. */
  readonly anchor: Anchor | undefined;
  /** Takes it out of the requests without a known outcome, and gives its price back where it had no effect. */
  settle(committed: boolean): void;
  /** What was decided stays so. */
  found?: Reconciliation;
}

/** A field of a form, with its repetitions. */
const FIELD = /([^&=]+)=[^&]*(&\1=[^&]*)*/g;

/** The extras of one client. */
export function track({ beforeBillable, budget, dryRun, onEvent }: Omit<ClientConfig, 'baseUrl'>, memory: Memory): Extras {
  const { clock, answered, open } = memory;
  // Later requests push out the identifiers of earlier ones.
  const mostRemembered = 1_000;
  const { limit } = budget ?? { limit: Infinity };
  let spent = 0;

  /** Keeps the identifier of an answered request. */
  function remember(about: unknown): void {
    const { requestID } = Object(about);
    if (!requestID) return;
    memory.anchor = { requestID, at: clock.now() };
    const [oldest = ''] = answered.add(requestID);
    if (answered.size > mostRemembered) answered.delete(oldest);
  }

  /** Asks the spend guard. @returns What gives the price back. */
  async function authorise({ plan, flags, options, fail }: Prepared): Promise<() => void> {
    if (dryRun && !/r/.test(flags)) throw fail(SpendRefusedError, 'refused by dryRun');
    const purchase = { operation: plan.operation, path: Object(options.path), form: Object(options.body) };
    let price = 0;
    if (/b/.test(flags)) {
      try {
        await beforeBillable?.(purchase);
        price = (await budget?.priceOf?.(purchase)) ?? 1;
      } catch (cause) {
        throw fail(SpendRefusedError, 'refused by beforeBillable or priceOf', {}, cause);
      }
      // Turned round so that a price that is not a number is refused.
      if (!(price >= 0 && spent + price <= limit)) throw fail(SpendRefusedError, `refused by the budget: ${spent} + ${price} > ${limit}`);
    }
    spent += price;
    return () => void (spent -= price);
  }

  return {
    async rehearse(prepared) {
      (await authorise(prepared))();
    },
    tell(prepared, what) {
      const now = clock.now();
      if (what.type === 'request') prepared.began = now;
      const event = { ...prepared.plan, attempt: prepared.attempts, milliseconds: now - (prepared.began ?? now), ...what };
      // Out of the call's way: what it throws does not touch the call.
      queueMicrotask(() => onEvent?.(event));
    },
    async around(prepared, send, read) {
      const { options, init } = prepared;
      const run = () => {
        const sending = send();
        void sending.then(remember, remember);
        return sending;
      };
      const refund = await authorise(prepared);
      if (/s/.test(prepared.flags)) return run();
      // Each request has an order of its own, by which the log tells it from others like it; the same key gives the same order.
      if (init.body)
        init.body = (String(init.body).match(FIELD) ?? [])
          .toSorted((one, other) => hash(prepared.written?.key + one) - hash(prepared.written?.key + other))
          .join('&');
      const settle = (committed: boolean) => {
        open.delete(prepared);
        if (!committed) refund();
      };
      open.add(prepared);
      const request: LostRequest = Object.assign(prepared, { sentAt: clock.now(), anchor: memory.anchor, settle });
      try {
        const result = await run();
        settle(true);
        return result;
      } catch (error) {
        if (!(error instanceof OutcomeUnknownError)) {
          settle(false);
          throw error;
        }
        memory.lost.set(error, request);
        if (!options.reconcile || options.signal?.aborted) throw error;
        const { body: found, masked } = await recover(memory, error, prepared);
        return Object.assign(await read(new Response(found), prepared), { masked });
      }
    },
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0;
  for (const sign of text) value = Math.imul(value ^ sign.charCodeAt(0), 16_777_619);
  return value;
}
