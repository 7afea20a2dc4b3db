import type { Ports } from '../../ports/ports.ts';
import { periodOf } from '../../rules/billing.ts';
import { prepared } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';
import { lockAccount } from '../accounting/period-end.ts';
import { jobKinds } from './job-kinds.ts';
import { firstDue } from './run-jobs.ts';

/** Whose account is to be settled, and up to when. */
export interface Settling {
  readonly accountId: string;
  /** Milliseconds. */
  readonly now: number;
  readonly ports: Ports;
  /** Known to the service alone: what must be given again is encrypted with it. */
  readonly secret: string;
}

/**
 * Does all that is due of an account, in time order: period ends, set-ups, renewals, ends. Each
 * operation that bills, or that shows what time changes, calls it first. So no request sees what
 * is over, whenever the timed work gets to it, and a renewal is on the invoice of the month it was
 * due in although a request closes that month.
 */
export async function settle(db: Db, { accountId, now, ports, secret }: Settling): Promise<void> {
  const at = Math.floor(now / 1000);
  const [account] = await anythingDue(db, { accountId, at, period: periodOf(at).start });
  if (!account?.is_due) return;
  // The account before what is due of it, as whoever does the work that is due: on PostgreSQL, two that lock in turn would wait for each other.
  await lockAccount(db, accountId);
  for (;;) {
    const next = await firstDue(db, jobKinds, now, accountId);
    if (!next) return;
    await next.kind.perform(db, next.due, ports, secret);
  }
}

/** The same conditions as those of the due kinds, in one question: nearly every request finds nothing. */
const anythingDue = prepared<{ accountId: string; at: number; period: number }, { is_due: number }>((db, parameter) =>
  db
    .selectFrom('accounts')
    .select(({ case: when, exists, or, eb }) =>
      when()
        .when(
          or([
            eb('period_start', '<', parameter('period')),
            exists(
              eb
                .selectFrom('dedicated_servers')
                .select('id')
                .where('account_id', '=', parameter('accountId'))
                .where('due', '<=', parameter('at')),
            ),
            exists(
              eb
                .selectFrom('domains')
                .select('name')
                .where('account_id', '=', parameter('accountId'))
                .where('state', '=', 'registered')
                .where('expires', '<=', parameter('at')),
            ),
          ]),
        )
        .then(1)
        .else(0)
        .end()
        .as('is_due'),
    )
    .where('id', '=', parameter('accountId')),
);
