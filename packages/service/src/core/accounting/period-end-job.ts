import { sql } from 'kysely';

import { periodOf } from '../../rules/billing.ts';
import type { JobKind } from '../jobs/job.ts';
import { closeEndedPeriods } from './period-end.ts';

/** Closes periods when they end, even if no request arrives. */
export const periodEndJobs: JobKind = {
  names: ['period_end'],
  due: (db, { periodStart }) =>
    db
      .selectFrom('accounts')
      .select(['id', 'id as account_id', 'period_start as due', sql.lit('period_end').as('kind')])
      .where('period_start', '<', periodStart),
  dueAt: (periodStart) => periodOf(periodStart).end,
  perform: (db, _services, { id, due }) => closeEndedPeriods(db, id, due),
};
