/** Requests as plain HTTP: the client package would repeat them by itself. */

/** A request of the reseller API. */
export interface Request {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
  readonly form?: Readonly<Record<string, string>>;
  /** Its Idempotency-Key. */
  readonly key?: string;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- each proof knows the shape that it asks for
  readonly body: any;
  /** How long it took. */
  readonly milliseconds: number;
}

/** Milliseconds after which a request counts as not answered. */
const PATIENCE = 30_000;

/**
 * Sends a request to one node.
 *
 * @throws When no answer came.
 */
export async function fetchOf(baseUrl: string, apiKey: string, { method, path, form, key }: Request): Promise<Answer> {
  const begun = performance.now();
  const response = await fetch(baseUrl + path, {
    method,
    headers: { 'x-service-apikey': apiKey, ...(key === undefined ? {} : { 'idempotency-key': key }) },
    body: form ? new URLSearchParams(form) : null,
    signal: AbortSignal.timeout(PATIENCE),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: JSON.parse(text), milliseconds: performance.now() - begun };
}

/** A purchase of the cheapest VM on a host system; its hostname tells it from every other. */
export function vmPurchase(hostname: string, { key, hostsystem = 'nl_ryzen' }: { key?: string; hostsystem?: string } = {}): Request {
  return {
    method: 'PUT',
    path: '/vm/create',
    form: { cores: '1', mem: '1024', disk: '10', os: 'debian_12', hostsystem, hostname },
    ...(key === undefined ? {} : { key }),
  };
}
