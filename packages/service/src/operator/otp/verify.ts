import { accountExists } from '../../core/account/account.ts';
import { counted } from '../../rules/counted.ts';
import { hashesOfOtp } from '../../rules/credentials.ts';
import { toInstant } from '../../rules/instants.ts';
import type { Db, Store } from '../../store/store.ts';
import type { ServiceOperation } from '../operation.ts';
import { OperatorProblem } from '../problem.ts';

/** Maximum number of wrong codes from a verifier or an operator token for an account. */
const MAX_FAILURES = 5;
const FAILURES_TTL_MS = 10 * 60 * 1000;

/** Wrong codes are counted for each token and account. */
interface AttemptCounter {
  readonly verifierId: string;
  /** Empty if the verifier names no account, or one that does not exist. */
  readonly accountId: string;
}

interface Presented {
  /** The hashes that the code may have. */
  readonly hashes: readonly string[];
  /** The account that the code must belong to. Undefined for any account. */
  readonly accountId: string | undefined;
}

/** POST /otp/verify: returns the account of a code. A code can be used once. */
export const verifyOtp: ServiceOperation<'verifyOtp'> = {
  kind: 'service',
  async run({ body, caller, now, runtime }, record) {
    const { account_id: accountId } = body;
    const presented = { hashes: hashesOfOtp(body.code, runtime), accountId };
    // The transaction stores a failed attempt, so it must not throw. The problem is thrown after it.
    const result = await runtime.store.commit(async ({ db }) => {
      // Invented accounts share one counter, so that they neither fill the table nor give more attempts.
      const isKnown = accountId !== undefined && (await accountExists(db, accountId));
      const attempt = { verifierId: caller.id, accountId: isKnown ? accountId : '' };
      const { since, failed } = await attemptsOf(db, attempt, now);
      if (failed >= MAX_FAILURES) return { retryAfter: Math.ceil((since + FAILURES_TTL_MS - now) / 1000) };
      const account = await useCode(db, presented, now);
      if (account) {
        const verified = { account_id: account.id, account_name: account.name, verified: toInstant(now) };
        await record(db, { before: null, after: verified });
        return { verified };
      }
      if (!(await wasUsedFirst(db, presented, now))) await storeFailedCount(db, attempt, failed + 1);
      return {};
    });
    if (result.verified) return result.verified;
    if (result.retryAfter !== undefined) throw tooManyFailures(result.retryAfter, accountId);
    const whose = accountId === undefined ? '' : ' of this account';
    throw new OperatorProblem('not-found', `This is not a valid code${whose}. Ask the reseller to generate a new one.`);
  },
};

/** Deletes expired failures. */
export async function forgetOldAttempts(store: Store, now: number): Promise<void> {
  await store.commit(({ db }) =>
    db
      .deleteFrom('otp_attempts')
      .where(({ eb, or }) => or([eb('since', '<=', now - FAILURES_TTL_MS), eb('since', '>', now)]))
      .execute(),
  );
}

function tooManyFailures(retryAfter: number, accountId: string | undefined): OperatorProblem {
  const wait = `Wait ${counted(retryAfter, 'second')}, as Retry-After says`;
  const detail =
    accountId === undefined
      ? `Five wrong codes were presented with this token without an account. ${wait}, or give the account in account_id.`
      : `Five wrong codes were presented with this token for this account. ${wait}.`;
  return new OperatorProblem('rate-limited', detail, { retryAfter });
}

/** The failures that still count. The insert locks the row, so that concurrent attempts wait for each other. */
async function attemptsOf(db: Db, { verifierId, accountId }: AttemptCounter, now: number): Promise<{ since: number; failed: number }> {
  const attempts = await db
    .insertInto('otp_attempts')
    .values({ verifier_id: verifierId, account_id: accountId, since: now, failed: 0 })
    .onConflict((conflict) =>
      conflict.columns(['verifier_id', 'account_id']).doUpdateSet(({ ref }) => ({ failed: ref('otp_attempts.failed') })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
  // A failure with a later date was counted before the clock was turned back.
  const isRunning = attempts.failed > 0 && attempts.since <= now && attempts.since + FAILURES_TTL_MS > now;
  if (isRunning) return attempts;
  const anew = { since: now, failed: 0 };
  await db.updateTable('otp_attempts').set(anew).where('verifier_id', '=', verifierId).where('account_id', '=', accountId).execute();
  return anew;
}

async function storeFailedCount(db: Db, { verifierId, accountId }: AttemptCounter, failed: number): Promise<void> {
  await db.updateTable('otp_attempts').set({ failed }).where('verifier_id', '=', verifierId).where('account_id', '=', accountId).execute();
}

async function useCode(db: Db, { hashes, accountId }: Presented, now: number): Promise<{ id: string; name: string } | undefined> {
  const used = await db
    .updateTable('otps')
    .set({ used: 1 })
    .where('hash', 'in', hashes)
    .where('used', '=', 0)
    .where('expires', '>', now)
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .returning('account_id')
    .executeTakeFirst();
  return used && db.selectFrom('accounts').select(['id', 'name']).where('id', '=', used.account_id).executeTakeFirstOrThrow();
}

/** Whether the code was valid until another request used it. Such a code was not guessed, so it does not count as a failure. */
async function wasUsedFirst(db: Db, { hashes, accountId }: Presented, now: number): Promise<boolean> {
  const row = await db
    .selectFrom('otps')
    .select('account_id')
    .where('hash', 'in', hashes)
    .where('used', '=', 1)
    .where('expires', '>', now)
    .executeTakeFirst();
  return row !== undefined && (accountId === undefined || row.account_id === accountId);
}
