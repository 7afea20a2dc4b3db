import { hasLapsed } from '../../core/domain/domain.ts';
import { Refusal } from '../../rules/refusal.ts';
import type { LookupOperation } from '../operation.ts';
import { readName } from './register-domain-form.ts';

/** The name, if no account of this service has it. Otherwise undefined. */
type Free = string | undefined;

/** GET /domain/{domain}/check: whether a domain can be registered. */
export const checkDomain: LookupOperation<'checkDomain', Free> = {
  kind: 'lookup',
  async find(db, { path, now }) {
    const read = await readName(db, path.domain, now);
    if ('rule' in read) throw new Refusal(404, 'not_found', `This name cannot be registered here. It ${read.message}.`);
    const row = await db.selectFrom('domains').select(['terminated', 'expires', 'state']).where('name', '=', read.name).executeTakeFirst();
    return !row || hasLapsed(row, Math.floor(now / 1000)) ? read.name : undefined;
  },
  async ask({ registrar }, free) {
    const available = free !== undefined && (await registrar.isAvailable(free));
    return { message: available ? 'The domain is available.' : 'The domain is registered already.', data: { available } };
  },
};
