/** The failures of requests to the operator API. */
import { isError } from '@reseller/contract';
import { ConnectionError, InvalidError, ResellerError, TimeoutError } from '@reseller/operator-client';

/** Undefined if no response arrived. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof ResellerError ? error.status : undefined;
}

/** The messages for the fields of a body, by JSON Pointer without `#`. */
export function fieldErrors(error: unknown): ReadonlyMap<string, string> {
  const fields = error instanceof InvalidError ? (error.fields ?? []) : [];
  return new Map(fields.map(({ field, message }) => [field.replace(/^#/, ''), message]));
}

/** The detail of a problem, which is written for people, or else the message of the error. */
export function messageOf(error: unknown): string {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return 'The service cannot be reached.';
  if (!isError(error)) return 'The request failed.';
  const { detail }: { readonly detail?: unknown } = Object(error.cause);
  return typeof detail === 'string' ? detail : error.message;
}
