/** Failed attempts are counted per third party and account. What the columns mean stands in operator-schema.ts. */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import { integerOf, tables } from './table.ts';
import type { Engine } from './table.ts';

export function otpAttempts(engine: Engine): Migration {
  const integer = integerOf(engine);
  return {
    async up(db: Kysely<Schema>) {
      // What it held counted for ten minutes.
      await db.schema.dropTable('otp_attempts').execute();
      await tables(db, engine)('otp_attempts', (t) =>
        t
          .addColumn('verifier_id', 'text', (c) => c.notNull().references('verifiers.id'))
          .addColumn('account_id', 'text', (c) => c.notNull())
          .addColumn('since', integer, (c) => c.notNull())
          .addColumn('failed', integer, (c) => c.notNull().check(sql`failed >= 0`))
          .addPrimaryKeyConstraint('otp_attempts_key', ['verifier_id', 'account_id']),
      );
    },
  };
}
