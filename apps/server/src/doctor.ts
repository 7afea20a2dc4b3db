/** Shows the state of the service in one table; OPERATIONS.md, "Doctor". */
import { errorText } from '@reseller/contract/is-error';
import type { DueWork, IpPool } from '@reseller/operator-client';
import { isClockSynchronized, lastBackupIn } from '@reseller/service/maintenance';
import * as v from 'valibot';

import { counted, HelpRequest, runCommand, UsageError } from './command-line.ts';
import { readConfiguration, unknownVariables } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { callOperator, operatorUrlOf } from './operator-call.ts';
import { textTable } from './text-table.ts';
import { variables } from './variables.ts';
import { extensionFact } from './welcome.ts';

const USAGE = `Usage: reseller-server doctor

Shows the settings and the state of the service on this machine. The exit code is 1 if something needs a person, which has the mark '!'.
`;

/** One line of the table. */
interface Finding {
  readonly what: string;
  readonly state: string;
  /** Whether it needs a person. */
  readonly isBad?: boolean;
}

const SECRET = /SECRET|TOKEN|KEY|DATABASE_URL/;
const HOUR_MS = 3_600_000;
/** A pool that is nearly used up. */
const FEW_LEFT = 0.1;

await runCommand(async () => {
  const [given] = process.argv.slice(2);
  if (given === '--help') throw new HelpRequest(USAGE);
  if (given !== undefined) throw new UsageError(`doctor takes no options; it got '${given}'.\n\n${USAGE}`);
  const configuration = readConfiguration(process.env);
  const findings = [
    ...settings(configuration, await isClockSynchronized()),
    ...(await serviceFindings(configuration)),
    ...backup(configuration),
  ];
  const bad = findings.filter(({ isBad }) => isBad);
  if (bad.length > 0) process.exitCode = 1;
  const rows = findings.map(({ what, state, isBad }) => [isBad ? '!' : '', what, state]);
  return `${textTable([['', 'what', 'state'], ...rows])}\n${bad.length === 0 ? 'Nothing needs a person.' : `${counted(bad.length, 'line')} with ! ${bad.length === 1 ? 'needs' : 'need'} a person.`}\n`;
});

function settings({ mode, extension, powerDns, named }: Configuration, isSynchronized: boolean): Finding[] {
  const changed = Object.entries(variables.entries).flatMap(([name, schema]) => {
    const value = process.env[name] || process.env[`${name}_FILE`];
    const standard = v.getDefault(schema);
    if (!value || value === standard) return [];
    return [{ what: name, state: SECRET.test(name) ? 'set' : value }];
  });
  return [
    ...changed,
    ...unknownVariables(process.env).map((name) => ({
      what: name,
      state: 'not a variable of the service, so it has no effect',
      isBad: true,
    })),
    { what: 'mode', state: mode },
    { what: 'extension', state: extensionFact(extension) },
    { what: 'name servers', state: powerDns?.url ?? named.dns ?? 'the adapter of RESELLER_ADAPTERS, or simulated' },
    {
      what: 'clock of this machine',
      state: `${new Date().toISOString()}, ${isSynchronized ? 'kept right by NTP' : 'not known to be kept right by NTP'}`,
    },
  ];
}

/** What the running service says. */
async function serviceFindings(configuration: Configuration): Promise<Finding[]> {
  const url = operatorUrlOf(configuration);
  try {
    const ready = await callOperator(configuration, 'GET', '/readyz');
    if (ready['status'] === 'unavailable') return [{ what: 'service', state: `not ready: ${String(ready['reason'])}`, isBad: true }];
    const work: DueWork = Object(await callOperator(configuration, 'GET', '/due-work'));
    const { items }: { items: readonly IpPool[] } = Object(await callOperator(configuration, 'GET', '/ip-pools'));
    return [
      { what: 'service', state: `${String(ready['status'])} at ${url}` },
      missingSettings(ready['missing_settings']),
      clockOf(configuration, work),
      ...items.map(poolOf),
      ...work.queues.map(queueOf),
      ...work.failed.map(({ account_id, kind, reason }) => ({
        what: `failed job ${kind}`,
        state: `account ${account_id}: ${reason}`,
        isBad: true,
      })),
    ];
  } catch (error) {
    return [{ what: 'service', state: errorText(error), isBad: true }];
  }
}

function missingSettings(missing: unknown): Finding {
  const names = Array.isArray(missing) ? missing.map(String) : [];
  return names.length === 0
    ? { what: 'seller and VAT', state: 'set' }
    : { what: 'seller and VAT', state: `missing: ${names.join(', ')}. No key with full access is issued until they are set`, isBad: true };
}

/** The clock of a sandbox may be ahead. */
function clockOf({ mode }: Configuration, { now }: DueWork): Finding {
  const ahead = Math.round((Date.parse(now) - Date.now()) / 1000);
  const state = Math.abs(ahead) <= 1 ? now : `${now}, ${Math.abs(ahead)} s ${ahead > 0 ? 'ahead of' : 'behind'} this machine`;
  return { what: 'clock of the service', state, isBad: mode === 'live' && Math.abs(ahead) > 1 };
}

function poolOf({ id, datacenter, total, used }: IpPool): Finding {
  const left = total - used;
  return { what: `pool ${id}`, state: `${left} of ${total} left at ${datacenter}`, isBad: left <= total * FEW_LEFT };
}

function queueOf({ queue, waiting, failed, oldest_seconds, oldest, is_held_up }: DueWork['queues'][number]): Finding {
  const age = oldest_seconds === null ? '' : `, the oldest for ${oldest_seconds} s`;
  const account = oldest?.account_id ? ` of account ${oldest.account_id}` : '';
  const about = oldest === null ? '' : `, ${oldest.subject}${account}`;
  return { what: `queue ${queue}`, state: `${waiting} waiting, ${failed} failed${age}${about}`, isBad: is_held_up };
}

/** The last backup of an embedded store. That of PostgreSQL is in the queue store_backups, if the database archives its log. */
function backup({ databaseUrl, dataDirectory, mode }: Configuration): Finding[] {
  if (databaseUrl !== undefined) return [];
  const last = lastBackupIn(dataDirectory);
  if (!last) return [{ what: 'last backup', state: 'none. Run reseller-server backup', isBad: mode === 'live' }];
  const hours = Math.floor((Date.now() - last.time) / HOUR_MS);
  return [
    { what: 'last backup', state: `${hours} h ago, verified, ${last.bytes} bytes, ${last.file}`, isBad: mode === 'live' && hours > 24 },
  ];
}
