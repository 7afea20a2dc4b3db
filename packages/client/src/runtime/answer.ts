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
  const { status, headers } = response;
  const { operation } = failure;
  const broken = (reason: AnswerError['reason'], what: string) =>
    // Whoever answers 3xx or 4xx did not do it; 2xx and 5xx leave it open. A page in place of an answer stays one.
    new AnswerError(
      `${operation}: ${status} with ${what}. Is this the baseUrl?`,
      Object.assign(failure, { status, reason, uncertain: status < 300 || status > 499, retryable: status > 499 || reason === 'cut' }),
    );
  // A browser shows of a redirect nothing but that it is one, with status 0.
  if (status < 200 || (status > 299 && status < 400))
    throw Object.assign(broken('redirect', `a redirect to ${headers.get('location')}, which is not followed: the API key stays here`), {
      uncertain: false,
    });
  const text = await response.text();
  let envelope;
  try {
    envelope = JSON.parse(text);
  } catch {
    throw /^\s*</.test(text)
      ? broken('html', 'an HTML page')
      : /^\s*\{/.test(text)
        ? broken('cut', 'half an answer')
        : broken('not-json', 'no JSON');
  }
  if (typeof envelope?.status !== 'string' || !('data' in envelope)) throw broken('no-envelope', 'other JSON');
  const { data, requestID, message, type } = envelope;
  if (status < 300 && envelope.status === 'success') return { data, requestID, message, status };
  const wait = headers.get('retry-after');
  // Seconds, or an HTTP date.
  const retryAfter = wait === null ? undefined : Math.max(0, +wait >= 0 ? +wait : (Date.parse(wait) - Date.now()) / 1000) || 0;
  const isUnderWay = type === 'idempotency_key_in_progress';
  throw new (classOf(status))(
    `${operation}: ${message}`,
    Object.assign(failure, {
      status,
      type,
      requestID,
      retryAfter,
      fields: data?.fields,
      // Our own words for "nothing was changed" and "the first one is under way".
      uncertain: isUnderWay || (status > 499 && !/^(unavailable|not_implemented)$/.test(type)),
      retryable: isUnderWay || status === 429 || (status > 499 && status !== 501),
    }),
  );
}
