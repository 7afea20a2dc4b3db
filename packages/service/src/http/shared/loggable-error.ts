import { isError } from '@reseller/contract/is-error';

import type { MaskKey } from '../../reseller/masking.ts';

/** The members of an error that may be logged. The values that a database driver adds are left out. */
export function loggableError(error: unknown, maskKey: MaskKey = (text) => text): Readonly<Record<string, unknown>> {
  if (!isError(error)) return { message: maskKey(String(error)) };
  return {
    type: error.name,
    message: maskKey(error.message),
    stack: maskKey(error.stack ?? ''),
    ...('code' in error ? { code: error.code } : {}),
    ...(error.cause === undefined ? {} : { cause: loggableError(error.cause, maskKey) }),
  };
}
