import { creditOf } from '../../core/accounting/credit-hold.ts';
import { numberOf } from '../../rules/money.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /accounting/credit: the amounts that decide whether the account may buy more. */
export const getCredit: ReadOperation<'getCredit'> = {
  kind: 'read',
  settles: true,
  async run(db, { accountId }) {
    const { limit, balance, unpaid, estimate, pending, remaining } = await creditOf(db, accountId);
    return {
      message: 'The credit of the account.',
      data: {
        limit: numberOf(limit),
        balance: numberOf(balance),
        unpaid: numberOf(unpaid),
        estimate: numberOf(estimate),
        pending: numberOf(pending),
        remaining: numberOf(remaining),
      },
    };
  },
};
