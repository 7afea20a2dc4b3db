import type { Handle } from '@reseller/client';

import { findHandle } from '../../core/domain/handle.ts';
import type { HandleRow } from '../../core/domain/handle.ts';
import { countryOf } from '../../rules/contact.ts';
import { notFound } from '../../rules/refusal.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /domain/handle/{handle}/info: one contact with all its fields. */
export const getHandle: ReadOperation<'getHandle'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, path }) {
    const row = await findHandle(db, accountId, path.handle);
    if (!row) throw notFound('handle');
    return { message: 'The handle was found.', data: toHandle(row) };
  },
};

/** Converts a stored handle to that of a response. */
export function toHandle({ id, account_id: _accountId, created: _created, type, gender, ...rest }: HandleRow): Handle {
  return { handle: id, type, gender, ...rest, country: countryOf(rest.countrycode)?.title ?? rest.countrycode };
}
