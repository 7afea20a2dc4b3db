/** The envelope around every answer (specification: "Response envelope (all endpoints)"). */
import type { Reply } from '../reseller/perform.ts';
import type { Refusal } from '../rules/refusal.ts';
import type { MaskKey } from './masking.ts';

export interface SuccessBody {
  readonly status: 'success';
  readonly requestID: string | null;
  readonly message: string;
  readonly data: unknown;
}

export function success(requestID: string | null, message: string, data: unknown): SuccessBody {
  return { status: 'success', requestID, message, data };
}

/**
 * The reply of a refusal.
 *
 * @param maskKey Masks the key of the caller, which a refusal may repeat as the name of a field that there is not.
 */
export function refusalReply(
  requestID: string | null,
  { status, type, message, fields, retryAfter }: Refusal,
  maskKey: MaskKey = (text) => text,
): Reply {
  const body = maskKey(JSON.stringify({ status: 'error', type, requestID, message, data: fields && { fields } }));
  return { status, body, loggedBody: body, retryAfter };
}
