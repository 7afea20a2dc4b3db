import type { ApiResponse } from './request.ts';

/** A response with its metadata. */
export interface WithMeta<T> extends Omit<ApiResponse<T>, 'toResponse'> {
  /** The response. Its body can be read. */
  readonly response: Response;
}

/** A call. Awaited, it returns the `data` of the response. */
export interface Call<T> extends Promise<T> {
  /** The data with request ID, message, status, number of attempts and the response, whose body can be read. */
  withMeta(): Promise<WithMeta<T>>;
}

export function callOf<T>(response: Promise<ApiResponse<T>>): Call<T> {
  const data = response.then((found) => found.data);
  async function withMeta(): Promise<WithMeta<T>> {
    // A caller that uses this promise need not handle the rejection of the other one as well.
    data.catch(() => {});
    const { toResponse, ...meta } = await response;
    return { ...meta, response: toResponse() };
  }
  return Object.assign(data, { withMeta });
}
