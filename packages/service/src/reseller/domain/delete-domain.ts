import { findDomain } from '../../core/domain/domain.ts';
import { terminateDomain } from '../../core/domain/terminate.ts';
import { asciiNameOf } from '../../rules/domain-name.ts';
import { secondsToInstant } from '../../rules/instants.ts';
import type { DeliveredOperation } from '../operation.ts';

/** No domain has this name. */
const NO_NAME = '';

/** DELETE /domain/{domain}/delete: cancels a domain, which stays registered until it expires. */
export const deleteDomain: DeliveredOperation<'deleteDomain', void> = {
  kind: 'delivered',
  deliver: (steps, { runtime, accountId, path }) =>
    terminateDomain(steps, { runtime, accountId, name: asciiNameOf(path.domain) ?? NO_NAME }),
  async success(_result, call, { db }) {
    const { name, expires } = await findDomain(db, call);
    return {
      message: 'The domain was cancelled and stays registered until its termination date.',
      data: { domain: name, termination_date: secondsToInstant(expires) },
    };
  },
};
