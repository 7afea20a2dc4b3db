import { OTP_LIFETIME_SECONDS } from '../../generated/facts.gen.ts';
import { hashesOfOtp, hashOfOtp, newOtp } from '../../rules/credentials.ts';
import type { Secrets } from '../../rules/credentials.ts';
import type { Random } from '../../rules/random.ts';
import type { Db } from '../../store/store.ts';
import type { StoreOperation } from '../operation.ts';

/** POST /account/otp: single use, void when another is generated. */
export const generateOtp: StoreOperation<'generateOtp'> = {
  kind: 'store',
  async run({ db }, { accountId, now, runtime }) {
    const { code, hash } = await freeCode(db, runtime.ports.random, runtime);
    const row = { hash, expires: now + OTP_LIFETIME_SECONDS * 1000, used: 0 };
    await db
      .insertInto('otps')
      .values({ account_id: accountId, ...row })
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
      .execute();
    return {
      message: 'The one-time code was generated.',
      data: {
        note: `Valid for ${OTP_LIFETIME_SECONDS / 60} minutes and for one use. A newer code makes this one invalid.`,
        otp_code: code,
      },
    };
  },
};

/** A code that no other account has, because a third party finds the account by the code alone. */
async function freeCode(db: Db, random: Random, secrets: Secrets): Promise<{ code: string; hash: string }> {
  for (;;) {
    const code = newOtp(random);
    const hashes = hashesOfOtp(code, secrets);
    const taken = await db.selectFrom('otps').select('account_id').where('hash', 'in', hashes).executeTakeFirst();
    if (!taken) return { code, hash: hashOfOtp(code, secrets.secret) };
  }
}
