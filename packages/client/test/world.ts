/** A service in virtual time, whose network loses responses and whose request log differs from that of the sandbox. */
import { hash } from 'node:crypto';

import type { Fetch, RequestLogItem } from '../src/index.ts';

/** The course of one request of the client. */
export interface Fate {
  /** `ok`: the client gets the response. `never`: the request does not arrive. `cut`: the client loses the connection after `cutMs`. */
  readonly kind: 'ok' | 'never' | 'cut';
  readonly cutMs: number;
  /** Milliseconds until the request arrives. */
  readonly transitMs: number;
  /** Milliseconds that the service takes. */
  readonly delayMs: number;
  /** The response: the result of the request, a 503 in the form of the API, or the page of a gateway. */
  readonly reply: 'result' | '503' | 'gateway';
}

/** How the service writes its request log. */
export type LogStyle =
  | 'exact'
  | 'sorted'
  | 'defaults'
  | 'nulls'
  | 'masked'
  | 'lower-case'
  | 'full-address'
  | 'slash'
  | 'put'
  | 'no-body'
  | 'boolean';

export type RunTime = 'node' | 'bun' | 'deno';

/** A request of another process with the same account while the client waits. */
export type Foreign = 'identical' | 'identical-refused' | 'other-vm';

export interface WorldOptions {
  readonly fates: readonly Fate[];
  readonly honoursKeys: boolean;
  /** Whether the service refuses the purchases of the client. */
  readonly refuses: boolean;
  readonly style: LogStyle;
  /** Whether the log has the hashes of keys. */
  readonly namesKeys: boolean;
  /** Milliseconds after which an entry can be read. */
  readonly lagMs: number;
  readonly logsReads: boolean;
  /** Reads of other processes, before and after the purchase. They push its entry to later pages. */
  readonly noise: readonly [before: number, after: number];
  readonly foreign: readonly Foreign[];
  /** Milliseconds after the first purchase at which others act. */
  readonly foreignMs: number;
  readonly runTime: RunTime;
  /** Milliseconds that the clock of the service is ahead, and by which it is set while the client waits. */
  readonly clockOffsetMs: number;
  readonly clockStepMs: number;
}

export const FORM = { cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'nl_ryzen' };
const PAGE = 50;
/** The service forgets its keys after this time. */
export const KEY_LIFETIME_MS = 86_400_000;

interface Vm {
  readonly identifier: number;
  readonly owner: string;
}

export class World {
  now = 5_000_000;
  readonly vms: Vm[] = [];
  /** Is called when a connection breaks. */
  onFailure = (): void => {};
  readonly #options: WorldOptions;
  readonly #events: { readonly at: number; readonly run: () => void }[] = [];
  readonly #log: { readonly visibleAt: number; readonly item: RequestLogItem }[] = [];
  readonly #keys = new Map<string, Response | undefined>();
  #fates: Fate[];
  #ids = 0;
  #logClock: number;
  #purchases = 0;
  #sleptMs = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.#fates = [...options.fates];
    this.#logClock = Date.UTC(2026, 10, 22) + options.clockOffsetMs;
    this.#noise(options.noise[0]);
  }

  readonly clock = {
    now: () => this.now,
    sleep: async (milliseconds: number, signal?: AbortSignal) => {
      if (!signal?.aborted) this.advance(milliseconds);
    },
    date: () => this.now + this.#sleptMs,
    // Connections break before an attempt may take too long, so no time limit ends here.
    setTimer: () => () => {},
  };

  advance(milliseconds: number): void {
    const end = this.now + milliseconds;
    for (;;) {
      const [next] = this.#events.toSorted((one, other) => one.at - other.at);
      if (!next || next.at > end) break;
      this.#events.splice(this.#events.indexOf(next), 1);
      this.now = Math.max(this.now, next.at);
      next.run();
    }
    this.now = end;
  }

  /** The machine of the client sleeps. Its even clock stops, and the service goes on. */
  sleepMachine(milliseconds: number): void {
    this.advance(Math.max(0, ...this.#events.map(({ at }) => at - this.now)));
    this.#sleptMs += milliseconds;
    this.#logClock += milliseconds;
    if (milliseconds >= KEY_LIFETIME_MS) this.#keys.clear();
  }

  readonly fetch: Fetch = async (url, init) => {
    const path = new URL(url).pathname;
    if (path === '/account/requests') return this.#page(Number(new URLSearchParams(String(init.body ?? '')).get('offset') ?? 0));
    if (path !== '/vm/create') {
      this.advance(20);
      const requestID = this.#id();
      if (this.#options.logsReads) this.#write({ requestID, endpoint: path, method: 'GET' });
      return this.#headers(Response.json({ status: 'success', requestID, message: '', data: { list: [] } }));
    }
    const { noise, foreign, foreignMs, clockStepMs } = this.#options;
    if (this.#purchases++ === 0) {
      this.#after(foreignMs, () => {
        for (const kind of foreign) this.#actAsAnother(kind);
        this.#noise(noise[1]);
        this.#logClock += clockStepMs;
      });
    }
    return this.#purchase(init);
  };

  async #purchase(init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    const owner = headers.get('x-owner') ?? '';
    const key = headers.get('idempotency-key') ?? '';
    const form = Object.fromEntries(new URLSearchParams(String(init.body)));
    const fate = this.#fates.shift() ?? { kind: 'ok', cutMs: 0, transitMs: 10, delayMs: 10, reply: 'result' };
    let response: Response | undefined;
    if (fate.kind !== 'never') this.#after(fate.transitMs, () => this.#arrive(owner, key, form, fate, (made) => (response = made)));
    if (fate.kind === 'ok') {
      this.advance(fate.transitMs + fate.delayMs);
      if (response === undefined) throw new Error('The service did not respond.');
      if (fate.reply === '503') return this.#headers(refusal(503, 'unavailable', this.#id()));
      if (fate.reply === 'gateway') return new Response('<html>Bad gateway</html>', { status: 502 });
      return this.#headers(response.clone());
    }
    this.advance(fate.cutMs);
    // Some run times send a request again, below `fetch`, if a connection that was kept open closes.
    const { runTime } = this.#options;
    const isRepeated = (runTime === 'bun' && init.keepalive !== false) || (runTime === 'deno' && !('client' in init));
    if (isRepeated && fate.kind === 'cut') return this.#purchase(init);
    this.onFailure();
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }) });
  }

  #arrive(owner: string, key: string, form: Record<string, string>, { delayMs }: Fate, respond: (response: Response) => void): void {
    const requestID = this.#id();
    const date = this.#date();
    const { honoursKeys, refuses } = this.#options;
    if (honoursKeys && this.#keys.has(key)) {
      respond(this.#keys.get(key) ?? refusal(409, 'idempotency_key_in_progress', requestID));
      return;
    }
    if (honoursKeys) this.#keys.set(key, undefined);
    this.#after(delayMs, () => {
      const made = refuses ? refusal(402, 'credit_limit_exceeded', requestID) : this.#create(owner, requestID);
      if (honoursKeys) this.#keys.set(key, made.response);
      this.#write({
        ...(this.#options.namesKeys && { idempotency_key_hash: hash('sha256', key) }),
        requestID,
        requestDate: date,
        endpoint: '/vm/create',
        method: 'PUT',
        request_body: JSON.stringify(form),
        success: refuses ? 0 : 1,
        error_type: refuses ? 'credit_limit_exceeded' : null,
        response_body: made.text,
      });
      respond(made.response);
    });
  }

  #create(owner: string, requestID: string): { response: Response; text: string } {
    const identifier = 10_000 + this.vms.length;
    this.vms.push({ identifier, owner });
    const envelope = (password: string) => ({
      status: 'success',
      requestID,
      message: 'Done.',
      data: { identifier, config: { cores: 1, mem: 1024, disk: 10, username: 'root', password } },
    });
    return { response: Response.json(envelope('secret')), text: JSON.stringify(envelope('***')) };
  }

  #actAsAnother(kind: Foreign): void {
    const requestID = this.#id();
    const form = kind === 'other-vm' ? { ...FORM, cores: 4 } : FORM;
    const text = Object.fromEntries(Object.entries(form).map(([name, value]) => [name, String(value)]));
    const isRefused = kind === 'identical-refused';
    this.#write({
      requestID,
      endpoint: '/vm/create',
      method: 'PUT',
      request_body: JSON.stringify(text),
      success: isRefused ? 0 : 1,
      error_type: isRefused ? 'credit_limit_exceeded' : null,
      response_body: isRefused ? refusal(402, 'credit_limit_exceeded', requestID).text : this.#create('another process', requestID).text,
    });
  }

  #noise(count: number): void {
    for (let index = 0; index < count; index++) this.#write({ requestID: this.#id(), endpoint: '/domain/list', method: 'GET' });
  }

  #write(
    item: Partial<RequestLogItem> & { readonly idempotency_key_hash?: string } & Pick<RequestLogItem, 'requestID' | 'endpoint' | 'method'>,
  ): void {
    const written: RequestLogItem = {
      requestDate: this.#date(),
      success: 1,
      request_body: '{}',
      error_type: null,
      response_body: '{}',
      ...item,
    };
    this.#log.unshift({ visibleAt: this.now + this.#options.lagMs, item: styled(written, this.#options.style) });
  }

  #page(offset: number): Response {
    this.advance(20);
    const visible = this.#log.filter(({ visibleAt }) => visibleAt <= this.now).map(({ item }) => item);
    const data = visible.slice(offset, offset + PAGE);
    return this.#headers(Response.json({ status: 'success', requestID: null, message: '', data }));
  }

  #headers(response: Response): Response {
    if (this.#options.honoursKeys) response.headers.set('idempotency-key-lifetime', String(KEY_LIFETIME_MS / 1000));
    return response;
  }

  #after(milliseconds: number, run: () => void): void {
    this.#events.push({ at: this.now + milliseconds, run });
  }

  #date(): string {
    return new Date(this.now + this.#logClock).toISOString();
  }

  #id(): string {
    return `request-${++this.#ids}`;
  }
}

function refusal(status: number, type: string, requestID: string): Response & { readonly response: Response; readonly text: string } {
  const body = { status: 'error', type, requestID, message: 'Refused.', data: null };
  const response = Response.json(body, { status });
  return Object.assign(response, { response, text: JSON.stringify(body) });
}

function styled(item: RequestLogItem, style: LogStyle): RequestLogItem {
  const body: Record<string, unknown> = JSON.parse(item.request_body);
  const fields = Object.entries(body);
  const withBody = (changed: unknown): RequestLogItem => ({ ...item, request_body: JSON.stringify(changed) });
  if (fields.length === 0) return item;
  switch (style) {
    case 'sorted':
      return withBody(Object.fromEntries(fields.toSorted()));
    case 'defaults':
      return withBody({ ...body, ips: '1', backup_slots: '0' });
    case 'nulls':
      return withBody({ ...body, ssh_key: null, hostname: null });
    case 'masked':
      return withBody({ ...body, os: '***' });
    case 'lower-case':
      return withBody(Object.fromEntries(fields.map(([name, value]) => [name.toUpperCase(), value])));
    case 'full-address':
      return { ...item, endpoint: `https://api.example.test${item.endpoint}` };
    case 'slash':
      return { ...item, endpoint: `${item.endpoint}/` };
    case 'put':
      return { ...item, method: item.method.toLowerCase() };
    case 'no-body':
      return { ...item, request_body: '' };
    case 'boolean': {
      const changed: unknown = { ...item, success: item.success === 1 };
      return changed as RequestLogItem;
    }
    default:
      return item;
  }
}
