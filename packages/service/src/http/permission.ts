import { assertMayBuy } from '../core/account/spending.ts';
import { Refusal } from '../rules/refusal.ts';
import type { ApiOperation } from './api.ts';
import type { Caller } from './authenticate.ts';

/**
 * Asserts that the caller may use an operation. It runs before all other checks, so that a refused request does not claim its
 * Idempotency-Key.
 *
 * @throws Refusal 403 if the account is suspended, unless the document describes no 403 for the operation, or if the key may only read and
 *   the operation changes something, or if its spending limit does not allow the operation.
 */
export function assertPermitted(
  { id, operation }: Pick<ApiOperation, 'id' | 'operation'>,
  { isSuspended, mayOnlyRead, spender }: Caller,
): void {
  if (isSuspended && '403' in operation.responses) {
    throw new Refusal(
      403,
      'account_suspended',
      'This account is suspended. Its servers and domains stay as they are. Read its invoices, pay the open ones, and ask the provider to lift the suspension. Then send the request again.',
    );
  }
  if (mayOnlyRead && !operation.readOnly) {
    throw new Refusal(
      403,
      'read_only_key',
      'This API key may only read, and this operation changes something. Send the request with a key that has full access.',
    );
  }
  if (operation.billable) assertMayBuy(spender, id);
}
