/** From a response to the envelope's content (specification: "Response envelope (all endpoints)"). */
import type { WithMeta } from './call.ts';
import { AnswerError, classOf } from './errors.ts';
import type { Failure } from './errors.ts';

/**
 * Reads a good answer.
 *
 * @throws AnswerError when it is no answer of this API.
 * @throws ResellerError of the class that its status calls for.
 */
export async function readAnswer<T>(response: Response, failure: Failure): Promise<Omit<WithMeta<T>, 'attempts' | 'response'>> {
  const { status, headers, url } = response;
  const broken = (reason: AnswerError['reason'], message: string) =>
    // Whoever answers 3xx or 4xx did not do it; 2xx and 5xx leave it open. A page in place of an answer stays one.
    new AnswerError(
      `${failure.operation}: ${message}`,
      Object.assign(failure, { status, reason, uncertain: status < 300 || status >= 500, retryable: status >= 500 || reason === 'cut' }),
    );
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    throw broken(
      'redirect',
      `redirected to ${headers.get('location') ?? 'another address'}, which is not followed, so that the API key stays here. Is this the baseUrl?`,
    );
  }
  const text = await response.text();
  let envelope;
  try {
    envelope = JSON.parse(text);
  } catch {
    if (/^\s*</.test(text)) throw broken('html', `${status} with an HTML page, of a proxy or of ${url}. Is this the baseUrl?`);
    if (/^\s*\{/.test(text)) throw broken('cut', `${status} with an answer that ends too early`);
    throw broken('not-json', `${status} with a text that is no JSON. Is this the baseUrl?`);
  }
  if (typeof envelope?.status !== 'string' || !('data' in envelope))
    throw broken('no-envelope', `${status} with JSON that is no answer of this API. Is this the baseUrl?`);
  const { data, requestID, message, type } = envelope;
  if (status < 300 && envelope.status === 'success') return { data, requestID, message, status };
  const retryAfter = secondsOf(headers.get('retry-after'));
  throw new (classOf(status))(
    `${failure.operation}: ${message}`,
    Object.assign(failure, {
      status,
      type,
      requestID,
      retryAfter,
      fields: data?.fields ?? [],
      // Our own words for "nothing was changed" and "the first one is under way".
      uncertain: status >= 500 ? !/^(unavailable|not_implemented)$/.test(type) : type === IN_PROGRESS,
      retryable: status === 429 || (status >= 500 && status !== 501) || type === IN_PROGRESS,
    }),
  );
}

const IN_PROGRESS = 'idempotency_key_in_progress';

/** `Retry-After`: seconds, or an HTTP date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  const until = Number.isNaN(seconds) ? (Date.parse(header) - Date.now()) / 1000 : seconds;
  return Number.isNaN(until) ? undefined : Math.max(0, until);
}
