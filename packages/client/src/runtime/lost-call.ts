import type { Values } from './form.ts';
import type { Operation } from './operation.ts';

/** A call whose outcome is unknown. Without the API key, further headers, secrets and personal data, so that it may be kept and logged. */
export interface LostCall {
  readonly name: string;
  readonly message: string;
  readonly operation: Omit<Operation, 'form' | 'required' | 'needs' | 'hidden'>;
  readonly method: string;
  readonly url: string;
  readonly path: Values;
  readonly form: Values;
  /** The encoded form. */
  readonly body: string | null;
  readonly curl: string;
  readonly idempotencyKey?: string | undefined;
  /** When it was first sent, ISO 8601. */
  readonly sentAt: string;
  /** When its last attempt ended, ISO 8601. */
  readonly endedAt: string;
  readonly attempts: number;
  /** A hash of the service and the API key. The request is sent again with this key only. */
  readonly account?: string | undefined;
  /** An earlier request of the account, by which the request log shows that another key is one of the same account. */
  readonly earlier?: { readonly requestID: string; readonly at: string } | undefined;
}
