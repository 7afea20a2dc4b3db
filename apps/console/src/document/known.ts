import type { OperationId } from '@reseller/operator-client';

import { operations } from './operations.data.ts';

/** Whether the document has the operation. A record of the audit can be of an operation that an earlier version had. */
export function isOperation(id: string | undefined): id is OperationId {
  return id !== undefined && Object.hasOwn(operations, id);
}
