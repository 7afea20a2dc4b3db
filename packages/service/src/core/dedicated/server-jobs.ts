import { sql } from 'kysely';

import type { JobKind } from '../jobs/job.ts';
import { runServerJob } from './life-cycle.ts';
import { findServer } from './server.ts';

/** Completes set-ups, renews servers and ends them. */
export const dedicatedServerJobs: JobKind = {
  names: ['dedicated_setup', 'dedicated_renewal', 'dedicated_end'],
  due: (db, { now }) =>
    db
      .selectFrom('dedicated_servers')
      .select(['id', 'account_id', 'due'])
      .select((eb) =>
        eb
          .case()
          .when('state', '=', 'ordered')
          .then(sql.lit('dedicated_setup'))
          .when('terminated', '=', 1)
          .then(sql.lit('dedicated_end'))
          .else(sql.lit('dedicated_renewal'))
          .end()
          .as('kind'),
      )
      .where('due', '<=', now),
  dueAt: (due) => due,
  async perform(db, services, { id, due }) {
    const server = await findServer(db, id);
    if (server) await runServerJob(db, services, server, due);
  },
};
