/** A fake service: a test plans the replies to purchases and fills the request log. */
import { hash } from 'node:crypto';

import { createReseller } from '../src/index.ts';
import type { Clock, Fetch, RequestLogItem, Reseller, ResellerConfig } from '../src/index.ts';
import type { Api } from '../src/runtime/connection.ts';
import { classifyEnvelope } from '../src/runtime/envelope.ts';

/** The result of one attempt: a response, or a failure of the connection. */
export type Reply = (request: { readonly init: RequestInit }) => Response | Promise<Response>;

/** A purchase as it was sent. */
export interface Sent {
  readonly key: string | null;
  readonly body: string;
  /** By the clock of the client. */
  readonly at: number;
}

export interface ScriptedService {
  readonly reseller: Reseller;
  /** For further clients of the service. */
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** The purchases, in the order in which they were sent. */
  readonly sent: readonly Sent[];
  /** Newest first. */
  readonly log: RequestLogItem[];
  /** Number of requests to a path. */
  readonly count: (path: string) => number;
  /** Number of reads of the log from its beginning. */
  readonly logReadings: () => number;
  readonly now: () => number;
  /** Lets time pass, for the client and for the log. */
  advance(milliseconds: number): void;
  /** Sets the clock of the log. */
  logClockStep(milliseconds: number): void;
  /** The replies to the next purchases. Later purchases succeed. */
  plan(...replies: readonly Reply[]): void;
  /** Adds an entry about a purchase to the log. */
  addEntry(purchase: Sent, more?: Partial<LoggedItem>): void;
}

/** An entry of a log that may name keys. */
export type LoggedItem = RequestLogItem & { readonly idempotency_key_hash?: string | null };

interface ScriptedOptions {
  /** The value of `Idempotency-Key-Lifetime` in responses. Without it, the service honours no keys. */
  readonly lifetime?: string;
  /** Writes the hash of its Idempotency-Key to each entry. */
  readonly namesKeys?: true;
  /** The clock of the machine. By default it goes with that of the client. */
  readonly date?: () => number;
  /** Omits reads from the log, so that no entry dates it. */
  readonly withoutReadsInLog?: true;
  /** Runs before each read of the log, once for all of its pages. `readings` counts from 1. */
  readonly onLogRead?: (service: ScriptedService, readings: number) => void;
  readonly config?: Partial<Omit<ResellerConfig, 'baseUrl' | 'environment' | 'fetch' | 'clock'>>;
}

/** An API for tests of single parts. */
export const API: Api = {
  userAgent: 'test',
  credentials: () => ({}),
  classify: classifyEnvelope,
  adviceWhenLost: 'Look at the request log.',
};
export const API_KEY = 'key-of-the-account';
export const VM = { cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'nl_ryzen' };
export const CREATED = { identifier: 48_213, config: { cores: 1, mem: 1024, disk: 10, username: 'root', password: 'initial-password' } };

/** The clock of the log differs from that of the client. */
const LOG_CLOCK_OFFSET_MS = Date.UTC(2026, 10, 22) - 7_777;
const LOG_PAGE_SIZE = 50;

export function envelope(data: unknown, more: object = {}): object {
  return { status: 'success', requestID: 'id-of-the-purchase', message: 'Done.', data, ...more };
}

/** A refusal in the form of the API. */
export function refusal(status: number, type = 'some_type', headers: Readonly<Record<string, string>> = {}): Reply {
  return () => Response.json(refusalBody(type), { status, headers });
}

export function refusalBody(type: string): object {
  return { status: 'error', type, requestID: 'id-of-the-refusal', message: 'Refused.', data: null };
}

export const success: Reply = () => Response.json(envelope(CREATED));

/** A response that ends within its body. */
export const cut: Reply = () =>
  new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"status":'));
      },
      pull(controller) {
        controller.error(new Error('other side closed'));
      },
    }),
  );

/** The connection breaks after the request left. */
export const reset: Reply = () => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }) });
};

/** No connection is made. */
export const refused: Reply = () => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }) });
};

/** No response comes. */
export const silence: Reply = ({ init: { signal } }) =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

/** Counts the entries of all services, so that their identifiers differ. */
let requests = 0;

export function scripted({ lifetime, namesKeys, date, withoutReadsInLog, onLogRead, config }: ScriptedOptions = {}): ScriptedService {
  let time = 5_000_000;
  let planned: Reply[] = [];
  let logReadings = 0;
  const sent: Sent[] = [];
  const log: RequestLogItem[] = [];
  const counts = new Map<string, number>();
  let logClockOffset = LOG_CLOCK_OFFSET_MS;
  const dateOf = (at: number) => new Date(at + logClockOffset).toISOString();

  const logged = (item: Partial<RequestLogItem>): void =>
    void log.unshift({
      requestID: `entry-${++requests}`,
      requestDate: dateOf(time),
      success: 1,
      endpoint: '/',
      method: 'GET',
      request_body: '{}',
      error_type: null,
      response_body: '{}',
      ...(namesKeys && { idempotency_key_hash: null }),
      ...item,
    });

  const respond = (path: string, init: RequestInit): Response | Promise<Response> => {
    const body = String(init.body ?? '');
    if (path === '/vm/create') {
      sent.push({ key: new Headers(init.headers).get('idempotency-key'), body, at: time });
      return (planned.shift() ?? success)({ init });
    }
    if (path === '/account/requests') {
      const offset = Number(new URLSearchParams(body).get('offset') ?? 0);
      if (offset === 0) logReadings++;
      if (offset === 0) onLogRead?.(service, logReadings);
      return Response.json(envelope(log.slice(offset, offset + LOG_PAGE_SIZE), { requestID: null }));
    }
    if (withoutReadsInLog) return Response.json(envelope({ list: [] }, { requestID: `unlogged-${++requests}` }));
    logged({ endpoint: path });
    return Response.json(envelope({ list: [] }, { requestID: log[0]?.requestID ?? null }));
  };

  const fetch: Fetch = async (url, init) => {
    const path = new URL(url).pathname;
    counts.set(path, (counts.get(path) ?? 0) + 1);
    const response = await respond(path, init);
    if (lifetime !== undefined) response.headers.set('idempotency-key-lifetime', lifetime);
    return response;
  };
  const clock = {
    now: () => time,
    date: date ?? (() => time),
    async sleep(milliseconds: number) {
      time += milliseconds;
    },
  };
  const service: ScriptedService = {
    reseller: createReseller({ apiKey: API_KEY, baseUrl: 'http://reseller.test', fetch, clock, ...config }),
    fetch,
    clock,
    sent,
    log,
    count: (path) => counts.get(path) ?? 0,
    logReadings: () => logReadings,
    now: () => time,
    logClockStep: (milliseconds) => void (logClockOffset += milliseconds),
    advance: (milliseconds) => void (time += milliseconds),
    plan: (...replies) => void (planned = [...replies]),
    addEntry: ({ key, body, at }, more) =>
      logged({
        ...(namesKeys && { idempotency_key_hash: key === null ? null : hash('sha256', key) }),
        requestDate: dateOf(at),
        endpoint: '/vm/create',
        method: 'PUT',
        request_body: JSON.stringify(Object.fromEntries(new URLSearchParams(body))),
        response_body: JSON.stringify(envelope({ ...CREATED, config: { ...CREATED.config, password: '***' } })),
        ...more,
      }),
  };
  return service;
}
