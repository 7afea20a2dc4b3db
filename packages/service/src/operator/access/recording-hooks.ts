import type { CommandHooks } from '../../delivery/command.ts';
import type { Db } from '../../store/store.ts';
import type { RecordChange } from '../operation.ts';

/** Records a change that the infrastructure carries out. `read` returns the state of the resource. */
export function recordingHooks(read: (db: Db) => Promise<unknown>, record: RecordChange): CommandHooks {
  let state: unknown = null;
  return {
    async before(db) {
      state = await read(db);
    },
    after: async (db) => record(db, { before: state, after: await read(db) }),
  };
}
