/** Faults around the real service, as a network, a proxy or a failing service causes them. */
import { randomUUID } from 'node:crypto';

import type { TestClock } from './clock.ts';

/** What goes wrong. `before`: the request never reaches the service. `after`: it was carried out, and its response is lost. */
export type Fault =
  | { readonly kind: 'reset'; readonly when: 'before' | 'after' }
  /** No response until the caller gives up. */
  | { readonly kind: 'hang'; readonly when: 'before' | 'after' }
  /** The request is carried out this many milliseconds later, also if the client has given up by then. */
  | { readonly kind: 'late'; readonly milliseconds: number }
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

/** The members of each fault apart from its kind. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  reset: ['when'],
  hang: ['when'],
  late: ['milliseconds'],
  delay: ['milliseconds'],
  'cut-body': [],
  response: ['when', 'response'],
} satisfies Record<Fault['kind'], readonly string[]>;

/** @throws TypeError naming the member that is missing, unknown or of another type. */
function checkMembers({ kind, ...members }: Fault): void {
  const known = MEMBERS[kind];
  if (!known) throw new TypeError(`The fault '${kind}' is unknown. Use one of ${Object.keys(MEMBERS).join(', ')}.`);
  const values: Readonly<Record<string, unknown>> = members;
  const unknown = Object.keys(values).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`The fault '${kind}' has no member ${unknown}. Its members are ${known.join(', ')}.`);
  const { when, milliseconds, response } = values;
  if (known.includes('when') && when !== 'before' && when !== 'after')
    throw new TypeError(`The fault '${kind}' needs when: 'before' or 'after'.`);
  if (known.includes('milliseconds') && !(typeof milliseconds === 'number' && milliseconds >= 0))
    throw new TypeError(`The fault '${kind}' needs milliseconds, a number from 0.`);
  if (known.includes('response') && typeof response !== 'function')
    throw new TypeError(`The fault '${kind}' needs response, a function that returns a Response.`);
}

interface Armed {
  readonly fault: Fault;
  readonly path: string | RegExp | undefined;
  readonly times: number;
  left: number;
}

/** The faults of one service. */
export class Faults {
  readonly #armed: Armed[] = [];

  /**
   * Has the next requests meet a fault.
   *
   * @throws TypeError when the fault or its trigger cannot be used.
   */
  add(fault: Fault, { path, times = 1, ...others }: Trigger = {}): void {
    checkMembers(fault);
    if (typeof path === 'string' && !path.startsWith('/'))
      throw new TypeError(`The path '${path}' of a fault must begin with a slash, such as '/vm/create'.`);
    if (!(Number.isInteger(times) && times > 0)) throw new TypeError(`times must be a whole number from 1, got ${times}.`);
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) throw new TypeError(`The trigger of a fault has no option ${unknown}. Its options are path and times.`);
    this.#armed.push({ fault, path, times, left: times });
  }

  /** An error of the service replaces the response. */
  addError(
    status: number,
    type: string,
    trigger: Trigger & { readonly when?: 'before' | 'after'; readonly headers?: Record<string, string> } = {},
  ): void {
    const { when = 'before', headers = {} } = trigger;
    const body = { status: 'error', type, requestID: randomUUID(), message: 'A fault of the test.', data: null };
    const { path, times } = trigger;
    const response = () => Response.json(body, { status, headers });
    this.add({ kind: 'response', when, response }, { ...(path !== undefined && { path }), ...(times !== undefined && { times }) });
  }

  /** Describes the faults that no request has met. */
  unmet(): readonly string[] {
    const unmet = this.#armed.filter(({ left, times }) => left === times);
    return unmet.map(({ fault, path }) => `${fault.kind}${path === undefined ? '' : ` at ${String(path)}`}`);
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

/** Carries out a request under a fault, in the time of the clock. */
export async function meet(
  fault: Fault | undefined,
  carryOut: () => Promise<Response>,
  clock: TestClock,
  signal: AbortSignal,
): Promise<Response> {
  if (!fault) return carryOut();
  switch (fault.kind) {
    case 'late':
      await passTime(clock, signal, fault.milliseconds);
      return carryOut();
    case 'delay': {
      const response = await carryOut();
      await passTime(clock, signal, fault.milliseconds);
      return response;
    }
    case 'cut-body':
      return cut(await carryOut());
    default:
      if (fault.when === 'after') await carryOut();
      if (fault.kind === 'response') return fault.response();
      if (fault.kind === 'hang') await passTime(clock, signal, Infinity);
      throw reset();
  }
}

/** Resolves when the clock has advanced this much. Until the caller gives up, it advances the clock to its next timer itself. */
async function passTime(clock: TestClock, signal: AbortSignal, milliseconds: number): Promise<void> {
  const over = new AbortController();
  const ended = new Promise<void>((resolve) => over.signal.addEventListener('abort', () => resolve()));
  if (milliseconds < Infinity) clock.setTimer(milliseconds, () => over.abort());
  while (!over.signal.aborted && !signal.aborted) if (!(await clock.sleepUntilNextTimer())) break;
  await ended;
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
