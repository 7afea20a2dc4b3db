import { createMatcher } from '../document/match.ts';
import type { SecurityKey } from '../document/operation.ts';
import { credentialOf, credentialText } from '../exchange/credential.ts';
import type { PathValues } from '../exchange/discover.ts';
import type { Credential } from '../exchange/exchange.ts';
import { isSuccess } from '../exchange/exchange.ts';
import { readBody } from '../form/body.ts';
import { fromMultipart, isMultipart } from '../form/multipart.ts';
import { closedConnection } from './connection-errors.ts';
import { showMoney } from './money.ts';
import { NO_BUDGET, worthOf } from './price.ts';
import type { Budget, PriceOf } from './price.ts';
import { bodyOf } from './step.ts';
import type { Step } from './step.ts';

/** Sends a request and returns its response, like the global `fetch`. */
export type Send = (request: Request) => Promise<Response>;

/** The guard refused a request that the plan does not allow. The request was not sent. */
export class RefusedRequestError extends Error {
  override readonly name = 'RefusedRequestError';
}

export interface GuardOptions {
  readonly steps: readonly Step[];
  /** Why a request of a step may not be sent with these path parameters; see `Ownership`. */
  readonly refusal: (step: Step, path: PathValues) => string | undefined;
  /** Base address of all allowed requests. */
  readonly target: URL;
  /** The key for each kind of credential. */
  readonly keyOf: (credential: Credential, key: SecurityKey) => string | undefined;
  readonly budget: Budget;
  readonly priceOf: PriceOf;
  readonly send: Send;
  /** Whether a request that was refused with 401 may be sent again, with a new token. Default: no. */
  readonly canRenew?: boolean;
  /** The maximum number of requests for one operation. Default: no limit beyond that of the steps. */
  readonly mostPerOperation?: number | undefined;
}

/** Sends only requests that the plan lists. All requests of the engine pass through it. */
export interface Guard {
  readonly send: Send;
  /** The cost of requests that succeeded or whose outcome is unknown. */
  readonly spent: () => Budget;
}

/**
 * Wraps `send` so that it sends only requests that the plan lists, by origin, normalised path, method, key, body and count.
 * Refuses requests that follow redirects, because the redirected request would bypass the guard.
 */
export function createGuard({
  steps,
  refusal: refusalOf,
  target,
  keyOf,
  budget,
  priceOf,
  send,
  canRenew = false,
  mostPerOperation = Infinity,
}: GuardOptions): Guard {
  const base = basePath(target);
  const rules = steps.map((step) => ({ step, match: createMatcher([{ ...step.operation, method: step.method }]), used: 0, waited: 0 }));
  let spent = NO_BUDGET;
  const sent = new Map<string, number>();

  function addSent({ operation: { id } }: Step, by: number): void {
    sent.set(id, (sent.get(id) ?? 0) + by);
  }

  /** The first rule that allows a request, or the reason why none does. */
  async function ruleFor(request: Request): Promise<(typeof rules)[number] | string> {
    const url = new URL(request.url);
    const path = url.origin === target.origin && url.pathname.startsWith(`${base}/`) ? url.pathname.slice(base.length) : undefined;
    let reason = 'is not in the plan';
    if (path === undefined || request.redirect === 'follow') return reason;
    const body = request.body === null ? '' : await request.clone().text();
    const headers = Object.fromEntries(request.headers);
    function carriesKey({ operation: { security }, credential }: Step): boolean {
      return (security?.keys ?? []).every((key) => {
        const text = keyOf(credential, key);
        return credentialOf(key, { url: request.url, headers }) === (text === undefined ? undefined : credentialText(key, text));
      });
    }
    for (const rule of rules) {
      const { step, match, used } = rule;
      const found =
        used < step.times && step.method === request.method && carriesKey(step) ? match(request.method, path)?.parameters : undefined;
      if (found === undefined || !takesPath(step, found) || !takesQuery(step, url.searchParams) || !takesBody(step, body)) continue;
      const refused = refusalOf(step, found);
      if (refused === undefined) return rule;
      reason = `was refused: ${refused}`;
    }
    return reason;
  }

  function allowAgain(rule: (typeof rules)[number]): void {
    if (rule.waited >= rule.step.times) return;
    rule.waited++;
    rule.used--;
    addSent(rule.step, -1);
  }

  /**
   * After 429 ("try again later"), after 401 with a token that can be renewed, and after a closed connection of a read, the same request may be
   * sent once more.
   */
  async function sendReading(rule: (typeof rules)[number], request: Request): Promise<Response> {
    let response: Response;
    try {
      response = await send(request);
    } catch (error) {
      if (rule.step.effect === 'reads' && closedConnection(error)) allowAgain(rule);
      throw error;
    }
    if (response.status === 429 || (response.status === 401 && canRenew)) allowAgain(rule);
    return response;
  }

  return {
    spent: () => spent,
    async send(request) {
      const rule = await ruleFor(request);
      if (typeof rule === 'string')
        throw new RefusedRequestError(`${request.method} ${new URL(request.url).pathname} ${rule}; it was not sent.`);
      if ((sent.get(rule.step.operation.id) ?? 0) >= mostPerOperation)
        throw new RefusedRequestError(`${mostPerOperation} requests were sent for ${rule.step.operation.id}; no more may leave.`);
      addSent(rule.step, 1);
      if (rule.step.effect !== 'costs') {
        rule.used++;
        return sendReading(rule, request);
      }
      const price = priceOf(rule.step);
      const cost: Budget = price === undefined ? { amount: 0n, unknown: 1 } : { amount: worthOf(price), unknown: 0 };
      const refusal = beyond(budget, plus(spent, cost));
      if (refusal !== undefined) {
        addSent(rule.step, -1);
        throw new RefusedRequestError(`${refusal}; it was not sent.`);
      }
      rule.used++;
      // Counted before the response, because a request without a response may have bought something.
      spent = plus(spent, cost);
      const response = await send(request);
      if (!isSuccess(response.status)) spent = { amount: spent.amount - cost.amount, unknown: spent.unknown - cost.unknown };
      return response;
    },
  };
}

function plus(one: Budget, other: Budget): Budget {
  return { amount: one.amount + other.amount, unknown: one.unknown + other.unknown };
}

function beyond(budget: Budget, sum: Budget): string | undefined {
  if (sum.amount > budget.amount) return `the budget of ${showMoney(budget.amount)} would not suffice`;
  if (sum.unknown > budget.unknown) return `no more than ${budget.unknown} purchases of unknown price may succeed`;
  return undefined;
}

function takesPath({ path }: Step, found: PathValues): boolean {
  return typeof path === 'string' || textOf(path) === textOf(found);
}

/** Whether the query has exactly the parameters of the step, the credential and the position of the next page. */
function takesQuery({ operation: { security }, parameters, next, effect }: Step, given: URLSearchParams): boolean {
  // The address of the next page, which the service has written.
  if (next?.in === 'query' && next.field === '') return effect === 'reads';
  const keys = new Set(security?.keys.map((key) => key.in === 'query' && key.name));
  const pairs = [...given].filter(([name]) => !keys.has(name) && !(next?.in === 'query' && name === next.field));
  const pages = next?.in === 'query' ? given.getAll(next.field) : [];
  const isPage = next?.in === 'query' ? pages.length === 1 && (next.value ?? pages[0]) === pages[0] : true;
  const expected = parameters.query.filter(([name]) => !(next?.in === 'query' && name === next.field));
  return (
    isPage && JSON.stringify(pairs.toSorted(byText)) === JSON.stringify(expected.map(([name, value]) => [name, value]).toSorted(byText))
  );
}

function byText(one: readonly unknown[], other: readonly unknown[]): number {
  const [first, second] = [JSON.stringify(one), JSON.stringify(other)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function takesBody(step: Step, body: string): boolean {
  if (step.form === undefined) return body === '';
  if (isMultipart(step.operation.body)) return takesFields(step, fromMultipart(body));
  return takesFields(step, body);
}

function takesFields(step: Step, body: string): boolean {
  if (step.form === undefined) return false;
  const given = readBody(step.operation, body).values;
  const page = step.next?.in === 'form' && step.next.value === undefined ? [step.next.field] : [];
  const names = [...Object.keys(step.form.found), ...page];
  if (names.some((name) => typeof given[name] !== 'string' && typeof given[name] !== 'number')) return false;
  return bodyOf(step, Object.fromEntries(names.map((name) => [name, given[name]]))) === body;
}

function textOf(path: PathValues): string {
  return JSON.stringify(Object.entries(path).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** The path of a base address without a trailing slash: empty for the root. */
export function basePath(target: URL): string {
  let path = target.pathname;
  while (path.endsWith('/')) path = path.slice(0, -1);
  return path;
}
