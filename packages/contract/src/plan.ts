import { createMatcher } from './match.ts';
import type { Operation } from './operation.ts';

/** Sends a request and gives its answer; the global `fetch` is one. */
export type Send = (request: Request) => Promise<Response>;

/** Which operations a run may call, and why it may not call the others. */
export interface Plan {
  readonly allowed: ReadonlySet<string>;
  readonly withheld: ReadonlyMap<string, string>;
}

/** A request that the plan does not allow was about to leave. It has not left. */
export class RefusedRequestError extends Error {
  override readonly name = 'RefusedRequestError';
}

/** The plan that calls only what changes nothing. */
export function planReadOnly(operations: readonly Operation[]): Plan {
  const allowed = new Set<string>();
  const withheld = new Map<string, string>();
  for (const operation of operations) {
    if (operation.readOnly) allowed.add(operation.id);
    else
      withheld.set(
        operation.id,
        operation.billable ? 'costs money, and this run is read-only' : 'changes state, and this run is read-only',
      );
  }
  return { allowed, withheld };
}

export interface Guard {
  readonly operations: readonly Operation[];
  readonly plan: Plan;
  /** Base address under which requests may leave. */
  readonly target: URL;
  readonly send: Send;
}

/**
 * Wraps `send` so that nothing leaves but what the plan allows, judged by the request as it would go over the wire: its
 * origin, its normalised path and its method. Redirects are not followed, as they would lead past this point.
 */
export function guardSend({ operations, plan, target, send }: Guard): Send {
  const match = createMatcher(operations);
  const base = basePath(target);
  return (request) => {
    const url = new URL(request.url);
    const path = url.pathname.startsWith(`${base}/`) ? url.pathname.slice(base.length) : undefined;
    const operation = url.origin === target.origin && path !== undefined ? match(request.method, path)?.operation : undefined;
    if (operation === undefined)
      throw new RefusedRequestError(`${request.method} ${url.pathname} is no operation of the document at the target; it was not sent.`);
    if (!plan.allowed.has(operation.id)) {
      throw new RefusedRequestError(`${operation.id} ${plan.withheld.get(operation.id) ?? 'is not in the plan'}; it was not sent.`);
    }
    if (request.redirect === 'follow')
      throw new RefusedRequestError(`${operation.id} would follow redirects to places outside the plan; it was not sent.`);
    return send(request);
  };
}

/** The path of a base address without a slash at its end: empty for the root. */
export function basePath(target: URL): string {
  return target.pathname.replace(/\/+$/, '');
}
