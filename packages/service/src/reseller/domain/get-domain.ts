import { toDomainDetails, findDomain } from '../../core/domain/domain.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /domain/{domain}/info: one domain with its status, handles, nameservers and timings. */
export const getDomain: ReadOperation<'getDomain'> = {
  kind: 'read',
  settles: true,
  async run(db, call) {
    const row = await findDomain(db, call);
    return { message: 'The domain was found.', data: toDomainDetails(row, call.runtime, Math.floor(call.now / 1000)) };
  },
};
