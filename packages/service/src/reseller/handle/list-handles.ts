import { handlesOf } from '../../core/domain/handle.ts';
import { counted } from '../../rules/counted.ts';
import type { ReadOperation } from '../operation.ts';
import { toHandle } from './get-handle.ts';

/** GET /domain/handle/list: the contacts of the account with all their fields. */
export const listHandles: ReadOperation<'listHandles'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId }) {
    const handles = await handlesOf(db, accountId);
    return { message: `${counted(handles.length, 'handle')}.`, data: { list: handles.map(toHandle) } };
  },
};
