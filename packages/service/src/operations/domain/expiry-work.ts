import type { DueWork } from '../due-work.ts';
import { settleExpiries } from './expiry.ts';

/** Renews domains at their expiry and ends those that are cancelled, whether or not anyone asks for them. */
export const domainExpiries: DueWork = {
  async first(db, now) {
    const domain = await db
      .selectFrom('domains')
      .select(['name', 'expires'])
      .where('state', '=', 'registered')
      .where('expires', '<=', Math.floor(now / 1000))
      .orderBy('expires')
      .orderBy('name')
      .limit(1)
      .executeTakeFirst();
    return domain && { at: domain.expires * 1000, id: domain.name };
  },
  perform: ({ db }, { at, id }, ports) => settleExpiries(db, ports, at / 1000, { name: id }),
};
