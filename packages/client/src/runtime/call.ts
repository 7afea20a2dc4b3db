import type { Answer } from './request.ts';

/** An answer with its metadata. */
export interface WithMeta<T> extends Answer<T> {
  /** Paths within `data` that the request log masks and that are therefore missing. Only for answers that were found in the log. */
  readonly masked?: readonly string[];
}

/** A call. Awaited, it returns the `data` of the response. */
export interface Call<T> extends Promise<T> {
  /** The data with request ID, message, status, number of attempts and the response. */
  withMeta(): Promise<WithMeta<T>>;
  /** The response of a call that succeeded, its body not read yet. */
  asResponse(): Promise<Response>;
}

export function callOf<T>(answer: Promise<WithMeta<T>>): Call<T> {
  const data = answer.then((found) => found.data);
  function instead<R>(other: Promise<R>): Promise<R> {
    // A caller that uses another promise need not handle the rejection of this one as well.
    data.catch(() => {});
    return other;
  }
  return Object.assign(data, {
    withMeta: () => instead(answer),
    asResponse: () => instead(answer.then(({ response }) => response.clone())),
  });
}
