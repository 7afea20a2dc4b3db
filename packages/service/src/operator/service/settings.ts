import type { Settings } from '../../generated/operator/types.gen.ts';
import { readSettings, writeRateLimit } from '../../store/settings.ts';
import type { ReadOperation, ServiceOperation } from '../operation.ts';

/** GET /settings */
export const getSettings: ReadOperation<'getSettings'> = {
  kind: 'read',
  async run(db, { mode }): Promise<Settings> {
    const { rateLimit } = await readSettings(db);
    return { mode, rate_limit: rateLimit };
  },
};

/** PUT /settings/rate-limit */
export const setDefaultRateLimit: ServiceOperation<'setDefaultRateLimit'> = {
  kind: 'service',
  async run({ store, body, mode, sandbox }) {
    await store.commit(({ db }) => writeRateLimit(db, body.rate_limit));
    await sandbox.spread();
    return { mode, rate_limit: body.rate_limit };
  },
};
