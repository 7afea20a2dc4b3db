import type { Random } from '../../../ports/random.ts';
import { hashOfOtp, newOtp } from '../../../rules/credentials.ts';
import type { Db } from '../../../store/store.ts';
import type { StoreOperation } from '../../operation.ts';

const VALID_FOR = 10 * 60 * 1000;

/** POST /account/otp: valid for 10 minutes, single use, void when another is generated. */
export const generateOtp: StoreOperation<'generateOtp'> = {
  kind: 'store',
  async run({ db }, { accountId, now, ports, secret }) {
    const { code, hash } = await freeCode(db, ports.random, secret);
    const row = { hash, expires: now + VALID_FOR, used: 0 };
    await db
      .insertInto('otps')
      .values({ account_id: accountId, ...row })
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
      .execute();
    return {
      message: 'The one-time code was generated.',
      data: {
        note: 'Valid for 10 minutes and for one use. A newer code makes this one invalid.',
        otp_code: code,
      },
    };
  },
};

/** A code that no other account has: it alone tells a third party whose it is. */
async function freeCode(db: Db, random: Random, secret: string): Promise<{ code: string; hash: string }> {
  for (;;) {
    const code = newOtp(random);
    const hash = hashOfOtp(code, secret);
    if (!(await db.selectFrom('otps').select('account_id').where('hash', '=', hash).executeTakeFirst())) return { code, hash };
  }
}
