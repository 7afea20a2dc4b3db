/** Faults around the real service, as a network, a proxy or a failing service causes them. */

/** What goes wrong. `before`: the request never reaches the service. `after`: it was carried out, and its response is lost. */
export type Fault =
  | { readonly kind: 'reset'; readonly when: 'before' | 'after' }
  /** No response until the caller gives up. */
  | { readonly kind: 'hang'; readonly when: 'before' | 'after' }
  /** The response arrives this many milliseconds later. */
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** The response breaks off in the middle of its body. */
  | { readonly kind: 'cut-body' }
  /** Another response replaces that of the service. */
  | { readonly kind: 'response'; readonly when: 'before' | 'after'; readonly response: () => Response };

/** Which requests a fault meets. */
export interface Trigger {
  /** The path, or a pattern that it fits; all where it is left out. */
  readonly path?: string | RegExp;
  /** How many requests; 1 where it is left out. */
  readonly times?: number;
}

/** The faults of one service. */
export class Faults {
  readonly #armed: { readonly fault: Fault; readonly path: string | RegExp | undefined; left: number }[] = [];

  /** Has the next requests meet a fault. */
  add(fault: Fault, { path, times = 1 }: Trigger = {}): void {
    this.#armed.push({ fault, path, left: times });
  }

  /** An error of the service replaces the response. */
  addError(
    status: number,
    type: string,
    trigger: Trigger & { readonly when?: 'before' | 'after'; readonly headers?: Record<string, string> } = {},
  ): void {
    const { when = 'before', headers = {} } = trigger;
    const body = { status: 'error', type, requestID: null, message: 'A fault of the test.', data: null };
    this.add({ kind: 'response', when, response: () => Response.json(body, { status, headers }) }, trigger);
  }

  clear(): void {
    this.#armed.length = 0;
  }

  /** The fault that a request meets, if any. */
  take(path: string): Fault | undefined {
    const met = this.#armed.find(
      (armed) =>
        armed.left > 0 && (armed.path === undefined || (typeof armed.path === 'string' ? armed.path === path : armed.path.test(path))),
    );
    if (!met) return undefined;
    met.left--;
    return met.fault;
  }
}

/** Carries out a request under a fault. */
export async function meet(fault: Fault | undefined, carryOut: () => Promise<Response>, signal: AbortSignal | null): Promise<Response> {
  if (!fault) return carryOut();
  switch (fault.kind) {
    case 'delay': {
      const response = await carryOut();
      await pause(fault.milliseconds, signal);
      return response;
    }
    case 'cut-body':
      return cut(await carryOut());
    default:
      if (fault.when === 'after') await carryOut();
      if (fault.kind === 'response') return fault.response();
      if (fault.kind === 'hang') await pause(undefined, signal);
      throw reset();
  }
}

/** What `fetch` throws when the connection is reset. */
function reset(): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }) });
}

async function cut(response: Response): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes.slice(0, bytes.length / 2));
    },
    pull(controller) {
      controller.error(new TypeError('terminated'));
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

/** Rejects as `fetch` does when the signal ends it; otherwise resolves after this many milliseconds, or never. */
function pause(milliseconds: number | undefined, signal: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = milliseconds === undefined ? undefined : setTimeout(resolve, milliseconds);
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end, { once: true });
  });
}
