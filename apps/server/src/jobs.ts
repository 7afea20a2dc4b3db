/** Shows the queues of the running service, and tries failed jobs again; OPERATIONS.md, "A job fails". */
import type { DueWork, FailedJob } from '@reseller/operator-client';

import { HelpRequest, runCommand, UsageError } from './command-line.ts';
import { readConfiguration } from './configuration.ts';
import { callOperator } from './operator-call.ts';
import { textTable } from './text-table.ts';

const USAGE = `Usage: reseller-server jobs [retry ACCOUNT]

  retry ACCOUNT  try the failed jobs of an account again within seconds

Without arguments, it shows the queues and the failed jobs. It asks the operator API of the running service on this machine.
`;

await runCommand(async () => {
  const [action, account, ...others] = process.argv.slice(2);
  if (action === '--help') throw new HelpRequest(USAGE);
  const configuration = readConfiguration(process.env);
  if (action === undefined) return describe(Object(await callOperator(configuration, 'GET', '/due-work?limit=200')));
  if (action !== 'retry' || account === undefined || others.length > 0)
    throw new UsageError(`jobs takes nothing, or retry and the identifier of an account.\n\n${USAGE}`);
  const { failed }: { failed: readonly FailedJob[] } = Object(
    await callOperator(configuration, 'POST', `/accounts/${encodeURIComponent(account)}/retry-jobs`),
  );
  return failed.length === 0 ? 'No job of this account has failed.\n' : `These jobs run within seconds:\n${jobsTable(failed)}`;
});

function describe({ queues, failed }: DueWork): string {
  const rows = queues.map(({ queue, waiting, failed: failures, oldest_seconds, oldest, is_held_up }) => [
    queue,
    String(waiting),
    String(failures),
    oldest_seconds === null ? '' : `${oldest_seconds} s`,
    is_held_up ? 'held up' : 'on time',
    oldest?.subject ?? '',
    oldest?.account_id ?? '',
  ]);
  const jobs = failed.length === 0 ? '' : `\n${jobsTable(failed)}\nRemove the cause, then run: reseller-server jobs retry ACCOUNT\n`;
  return textTable([['queue', 'waiting', 'failed', 'oldest', 'state', 'about', 'account'], ...rows]) + jobs;
}

function jobsTable(failed: readonly FailedJob[]): string {
  return textTable([
    ['account', 'job', 'attempts', 'next attempt', 'reason'],
    ...failed.map(({ account_id, kind, attempts, next_attempt, reason }) => [account_id, kind, String(attempts), next_attempt, reason]),
  ]);
}
