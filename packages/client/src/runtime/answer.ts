/** From a response to the envelope's content (specification: "Response envelope (all endpoints)"). */
import { AnswerError, BY_STATUS, ResellerError, ServerError } from './errors.ts';
import { parseJson } from './json.ts';
import type { Fail } from './request.ts';

/** A good answer. */
export interface Answer<T> {
  readonly data: T;
  /** Null on some account and accounting lists (specification: "Response envelope (all endpoints)"). */
  readonly requestID: string | null;
  /** For people, not for programs to compare. */
  readonly message: string;
  readonly status: number;
  /** How often the request was sent. */
  readonly attempts: number;
  /** Its body has been read. */
  readonly response: Response;
}

/**
 * Reads a good answer.
 *
 * @throws AnswerError when it is no answer of this API.
 * @throws ResellerError of the class that its status calls for.
 */
export const readAnswer = async <T>(response: Response, fail: Fail, attempts: number): Promise<Answer<T>> => {
  const { status, headers } = response;
  const failed = status > 499;
  // A browser shows of a redirect nothing but that it is one, with status 0.
  const redirected = status < 200 || (status > 299 && status < 400);
  const text = redirected ? '' : await response.text();
  const envelope = parseJson(text);
  if (typeof envelope?.status !== 'string' || !('data' in envelope)) {
    const reason = redirected
      ? 'redirect'
      : envelope !== undefined
        ? 'no-envelope'
        : /^\s*</.test(text)
          ? 'html'
          : /^\s*\{/.test(text)
            ? 'cut'
            : 'not-json';
    const where = redirected ? ` to ${headers.get('location')}` : '';
    throw fail(AnswerError, `no answer of the API: status ${status}, ${reason}${where}. Is the baseUrl right?`, {
      status,
      reason,
      // Whoever answers 3xx or 4xx did not do it; 2xx and 5xx leave it open. A page in place of an answer stays one.
      uncertain: failed || (status < 300 && !redirected),
      retryable: failed || reason === 'cut',
    });
  }
  const { data, requestID, message, type } = envelope;
  if (status < 300 && envelope.status === 'success') return { data, requestID, message, status, attempts, response };
  // Seconds, or an HTTP date.
  const wait = headers.get('retry-after') ?? '';
  // Our own words for "the first one is under way" and "nothing was changed".
  const isPending = /_in_progress/.test(type);
  throw fail(failed ? ServerError : (BY_STATUS[status] ?? ResellerError), message ?? `status ${status}`, {
    status,
    type,
    requestID,
    fields: data?.fields,
    retryAfter: Number(wait) || (Date.parse(wait) - Date.now()) / 1000 || undefined,
    uncertain: isPending || (failed && !/^(unavailable|not_implemented)$/.test(type)),
    retryable: isPending || status === 429 || (failed && status !== 501),
  });
};
