/** Brings the tables of a store up to date before a new version starts; packages/service/OPERATIONS.md, "Upgrade". */
import { lockingSessionsOf, migratePostgres, migrateSqlite, pendingOfPostgres, pendingOfSqlite } from '@reseller/service/maintenance';

import { dataDirectory, flagOf, runCommand, UsageError } from './command-line.ts';
import { invocationOf } from './invocation.ts';
import { secretOf } from './secrets.ts';

const USAGE = `Usage: ${invocationOf('migrate')} [--dry-run]

  --dry-run  only print the migrations that would run

The store is the database of DATABASE_URL, or else the embedded store in RESELLER_DATA_DIR or .data.
`;

await runCommand(async () => {
  const isDryRun = flagOf('dry-run', USAGE);
  const url = secretOf(process.env, 'DATABASE_URL');
  if (url && !URL.canParse(url)) throw new UsageError('DATABASE_URL is not a connection string of a PostgreSQL database.');
  const directory = dataDirectory(undefined);
  const pending = await (url ? pendingOfPostgres(url) : pendingOfSqlite(directory));
  if (pending.length === 0) return 'The store is up to date.\n';
  if (!isDryRun) await (url ? migratePostgres(url) : migrateSqlite(directory));
  const blockers = isDryRun && url ? await lockingSessionsOf(url) : [];
  const warning = blockers.map((session) => `Wait for this session, or end it, because it holds locks: ${session}\n`).join('');
  return `${isDryRun ? 'Would run' : 'Ran'} ${pending.length} migration${pending.length === 1 ? '' : 's'}:\n${pending.map((name) => `  ${name}\n`).join('')}${warning}`;
});
