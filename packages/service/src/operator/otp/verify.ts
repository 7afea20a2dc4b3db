import { hashOfOtp } from '../../rules/credentials.ts';
import type { Db } from '../../store/store.ts';
import type { ServiceOperation } from '../operation.ts';
import { OperatorProblem } from '../problem.ts';
import { instant } from '../shown.ts';

/** Failed attempts of one token, and milliseconds that they are counted for. */
const MOST_FAILURES = 5;
const COUNTED_FOR = 10 * 60 * 1000;

/** POST /otp/verify: whose the code is; it is used up by that. */
export const verifyOtp: ServiceOperation<'verifyOtp'> = {
  kind: 'service',
  async run({ store, body, secret, caller, now }) {
    // A failed attempt is written down, so the unit of work ends well and the problem follows it.
    const result = await store.commit(async ({ db }) => {
      const { since, failed } = await attemptsOf(db, caller, now);
      if (failed >= MOST_FAILURES) return { retryAfter: Math.ceil((since + COUNTED_FOR - now) / 1000) };
      const account = await useCode(db, hashOfOtp(body.code, secret), now);
      if (account) return { account };
      await db
        .updateTable('otp_attempts')
        .set({ failed: failed + 1 })
        .where('caller', '=', caller)
        .execute();
      return {};
    });
    if (result.account) return { account_id: result.account.id, account_name: result.account.name, verified: instant(now) };
    if (result.retryAfter === undefined)
      throw new OperatorProblem('not-found', 'No valid code is like this. Ask the reseller to generate a new one.');
    const { retryAfter } = result;
    throw new OperatorProblem('rate-limited', `Five attempts with this token failed. Wait ${retryAfter} seconds, as Retry-After says.`, {
      retryAfter,
    });
  },
};

/** Failures of the running ten minutes. An update first: of attempts that arrive together, each waits for the one before. */
async function attemptsOf(db: Db, caller: string, now: number): Promise<{ since: number; failed: number }> {
  const attempts = await db
    .insertInto('otp_attempts')
    .values({ caller, since: now, failed: 0 })
    .onConflict((conflict) => conflict.column('caller').doUpdateSet(({ ref }) => ({ failed: ref('otp_attempts.failed') })))
    .returningAll()
    .executeTakeFirstOrThrow();
  if (attempts.failed > 0 && attempts.since + COUNTED_FOR > now) return attempts;
  const anew = { since: now, failed: 0 };
  await db.updateTable('otp_attempts').set(anew).where('caller', '=', caller).execute();
  return anew;
}

async function useCode(db: Db, hash: string, now: number): Promise<{ id: string; name: string } | undefined> {
  const used = await db
    .updateTable('otps')
    .set({ used: 1 })
    .where('hash', '=', hash)
    .where('used', '=', 0)
    .where('expires', '>', now)
    .returning('account_id')
    .executeTakeFirst();
  return used && db.selectFrom('accounts').select(['id', 'name']).where('id', '=', used.account_id).executeTakeFirstOrThrow();
}
