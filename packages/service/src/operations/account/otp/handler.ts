import { hashOfOtp, newOtp } from '../../../rules/credentials.ts';
import type { StoreOperation } from '../../operation.ts';

const VALID_FOR = 10 * 60 * 1000;

/** POST /account/otp: valid for 10 minutes, single use, void when another is generated. */
export const generateOtp: StoreOperation<'generateOtp'> = {
  kind: 'store',
  async run({ db }, { accountId, now, ports, secret }) {
    const code = newOtp(ports.random);
    const row = { hash: hashOfOtp(code, accountId, secret), expires: now + VALID_FOR, used: 0 };
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
