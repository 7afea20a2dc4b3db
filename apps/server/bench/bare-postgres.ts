/**
 * Measures the limit of the machine: bare `pg` inserts one row of a log in each commit, over as many connections as the service uses. It gets the
 * database and the row as JSON in the first argument, and sends the number of commits per second to the parent process when it is asked.
 */
import { Pool } from 'pg';

import type { BarePostgresOptions } from './processes.ts';

const { databaseUrl, row, connections, concurrency }: BarePostgresOptions = JSON.parse(process.argv[2] ?? '{}');
const pool = new Pool({ connectionString: databaseUrl, max: connections });
await pool.query(
  'create table if not exists bare_log (id bigserial primary key, account text not null, date bigint not null, body text not null)',
);
const insert = {
  name: 'insert',
  text: 'insert into bare_log (account, date, body) values ($1, $2, $3)',
  values: ['bench', Date.now(), row],
};

process.on('message', (milliseconds: number) => {
  measure(milliseconds).then(
    (perSecond) => process.send?.(perSecond),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
process.once('SIGTERM', () => process.exit(0));
process.send?.('ready');

async function measure(milliseconds: number): Promise<number> {
  const begun = performance.now();
  let commits = 0;
  async function worker(): Promise<void> {
    while (performance.now() - begun < milliseconds) {
      await pool.query(insert);
      commits++;
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker));
  return commits / ((performance.now() - begun) / 1000);
}
