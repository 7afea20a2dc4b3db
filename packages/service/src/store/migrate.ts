import { Migrator } from 'kysely/migration';

import { initial } from './migrations/0001-initial.ts';
import { charges } from './migrations/0002-charges.ts';
import { domains } from './migrations/0003-domains.ts';
import { dedicated } from './migrations/0004-dedicated.ts';
import { sales } from './migrations/0005-sales.ts';
import { operator } from './migrations/0006-operator.ts';
import { nodes } from './migrations/0007-nodes.ts';
import { vmChanges } from './migrations/0008-vm-changes.ts';
import { turns } from './migrations/0009-turns.ts';
import { otpAttempts } from './migrations/0010-otp-attempts.ts';
import { vmIdentifiers } from './migrations/0011-vm-identifiers.ts';
import type { Engine } from './migrations/table.ts';
import { StoreOpenError } from './store.ts';
import type { Db } from './store.ts';

/** All migrations of this version, by name, in the order in which they run. */
export function migrationsOf(engine: Engine) {
  return {
    '0001-initial': initial(engine),
    '0002-charges': charges(engine),
    '0003-domains': domains(engine),
    '0004-dedicated': dedicated(engine),
    '0005-sales': sales(engine),
    '0006-operator': operator(engine),
    '0007-nodes': nodes(engine),
    '0008-vm-changes': vmChanges(engine),
    '0009-turns': turns(engine),
    '0010-otp-attempts': otpAttempts(engine),
    '0011-vm-identifiers': vmIdentifiers(engine),
  };
}

/**
 * Brings the tables up to date. Several processes may do so at once on PostgreSQL: the first does the work.
 *
 * @throws StoreOpenError when a migration fails; the tables are as they were.
 */
export async function migrate(db: Db, engine: Engine): Promise<void> {
  const provider = { getMigrations: async () => migrationsOf(engine) };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreOpenError(
      `The tables of the store could not be brought up to date (${reason}). Check that the store was written by this version or an older one.`,
      { cause: error },
    );
  }
}
