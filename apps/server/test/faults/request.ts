/** Requests as plain HTTP, because the client package would retry them. */

/** A request of the reseller API. */
export interface Request {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
  readonly form?: Readonly<Record<string, string>>;
  /** Its Idempotency-Key. */
  readonly key?: string;
}

/** A response. */
export interface ServiceResponse {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows the shape that it requests
  readonly body: any;
  /** Duration in milliseconds. */
  readonly milliseconds: number;
}

/** As long as a test may take, because 2,000 purchases at once are slow on a busy machine. */
const TIMEOUT_MS = 300_000;

/**
 * Sends a request to one instance.
 *
 * @throws If there was no response.
 */
export async function fetchOf(baseUrl: string, apiKey: string, { method, path, form, key }: Request): Promise<ServiceResponse> {
  const begun = performance.now();
  const response = await fetch(baseUrl + path, {
    method,
    headers: { 'x-service-apikey': apiKey, ...(key === undefined ? {} : { 'idempotency-key': key }) },
    body: form ? new URLSearchParams(form) : null,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: JSON.parse(text), milliseconds: performance.now() - begun };
}

/** A purchase of the cheapest VM on a host system, identified by its hostname. */
export function vmPurchase(hostname: string, { key, hostsystem = 'nl_ryzen' }: { key?: string; hostsystem?: string } = {}): Request {
  return {
    method: 'PUT',
    path: '/vm/create',
    form: { cores: '1', mem: '1024', disk: '10', os: 'debian_12', hostsystem, hostname },
    ...(key === undefined ? {} : { key }),
  };
}
