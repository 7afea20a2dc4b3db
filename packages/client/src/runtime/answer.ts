/** From a response to the envelope's content (specification: "Response envelope (all endpoints)"). */
import type { WithMeta } from './call.ts';
import { AnswerError, BY_STATUS, ResellerError, ServerError } from './errors.ts';
import type { Prepared } from './prepare.ts';

/**
 * Reads a good answer.
 *
 * @throws AnswerError when it is no answer of this API.
 * @throws ResellerError of the class that its status calls for.
 */
export async function readAnswer<T>(response: Response, { attempts, fail }: Prepared): Promise<WithMeta<T>> {
  const { status, headers } = response;
  const failed = status > 499;
  // A browser shows of a redirect nothing but that it is one, with status 0.
  const redirected = /^[013]/.test(String(status));
  const text = redirected ? '' : await response.text();
  let envelope;
  let reason: AnswerError['reason'] | '' = redirected ? 'redirect' : /^\s*</.test(text) ? 'html' : /^\s*\{/.test(text) ? 'cut' : 'not-json';
  try {
    envelope = JSON.parse(text);
    reason = typeof envelope?.status === 'string' && 'data' in envelope ? '' : 'no-envelope';
  } catch {
    // The reason stands.
  }
  if (reason) {
    const more = redirected ? ` to ${headers.get('location')}, not followed: the API key stays here` : '';
    throw fail(AnswerError, `status ${status} with no answer of this API (${reason}${more}). Is the baseUrl right?`, {
      status,
      reason,
      // Whoever answers 3xx or 4xx did not do it; 2xx and 5xx leave it open. A page in place of an answer stays one.
      uncertain: /^[25]/.test(String(status)),
      retryable: failed || reason === 'cut',
    });
  }
  const { data, requestID, message, type } = envelope;
  if (status < 300 && envelope.status === 'success') return { data, requestID, message, status, attempts, response };
  throw fail(failed ? ServerError : (BY_STATUS[status] ?? ResellerError), message ?? `status ${status}`, {
    status,
    type,
    requestID,
    // Seconds, or an HTTP date.
    retryAfter:
      Math.max(Number(headers.get('retry-after')) || (Date.parse(String(headers.get('retry-after'))) - Date.now()) / 1000, 0) || undefined,
    fields: data?.fields,
    // Our own words for "nothing was changed" and "the first one is under way".
    uncertain: type === 'idempotency_key_in_progress' || (failed && !/^(unavailable|not_implemented)$/.test(type)),
    retryable: type === 'idempotency_key_in_progress' || status === 429 || (failed && status !== 501),
  });
}
