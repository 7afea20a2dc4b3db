import type { Engine } from '../store.ts';
import { firstSchema } from './0001-first-schema.ts';
import { logBodySizes } from './0002-log-body-sizes.ts';
import { endedSessions } from './0003-ended-sessions.ts';
import { creatorsOfTokens } from './0004-creators-of-tokens.ts';
import { failedJobs } from './0005-failed-jobs.ts';
import { holdsOfDeliveries } from './0006-holds-of-deliveries.ts';
import { taxStatuses } from './0007-tax-statuses.ts';
import { documentLanguages } from './0008-document-languages.ts';
import { logos } from './0009-logos.ts';
import { serviceId } from './0010-service-id.ts';
import { zoneChanges } from './0011-zone-changes.ts';
import { factsOfRequests } from './0012-facts-of-requests.ts';
import { tasks } from './0013-tasks.ts';
import { sshKeys } from './0014-ssh-keys.ts';
import { vmLabels } from './0015-vm-labels.ts';
import { rdns } from './0016-rdns.ts';
import { sampleVms } from './0017-sample-vms.ts';
import { osImageFacts } from './0018-os-image-facts.ts';
import { vmBackups } from './0019-vm-backups.ts';
import { vmUsage } from './0020-vm-usage.ts';
import { handlesOfAccount } from './0021-handles-of-account.ts';
import { userData } from './0022-user-data.ts';
import { addedAddresses } from './0024-added-addresses.ts';
import { events } from './0025-events.ts';
import { vmConsoles } from './0026-vm-consoles.ts';
import { vmIsos } from './0027-vm-isos.ts';
import { transferLocks } from './0028-transfer-locks.ts';
import { domainMoves } from './0029-domain-moves.ts';
import { vmFacts } from './0031-vm-facts.ts';
import { vmAbuse } from './0032-vm-abuse.ts';
import { vmMonitors } from './0033-vm-monitors.ts';
import { dnssec } from './0034-dnssec.ts';
import { webhookQueues } from './0036-webhook-queues.ts';
import { servingVersions } from './0037-serving-versions.ts';
import { endedMachines } from './0038-ended-machines.ts';

/** The name of the migration that creates the tables of an empty store. */
export const FIRST_SCHEMA = '0001-first-schema';

/** All migrations of this version, by name, in the order in which they run. */
export function migrationsOf(engine: Engine) {
  return {
    [FIRST_SCHEMA]: firstSchema(engine),
    '0002-log-body-sizes': logBodySizes(engine),
    '0003-ended-sessions': endedSessions(engine),
    '0004-creators-of-tokens': creatorsOfTokens,
    '0005-failed-jobs': failedJobs(engine),
    '0006-holds-of-deliveries': holdsOfDeliveries(engine),
    '0007-tax-statuses': taxStatuses,
    '0008-document-languages': documentLanguages,
    '0009-logos': logos(engine),
    '0010-service-id': serviceId,
    '0011-zone-changes': zoneChanges(engine),
    '0012-facts-of-requests': factsOfRequests(engine),
    '0013-tasks': tasks(engine),
    '0014-ssh-keys': sshKeys(engine),
    '0015-vm-labels': vmLabels,
    '0016-rdns': rdns(engine),
    '0017-sample-vms': sampleVms(engine),
    '0018-os-image-facts': osImageFacts(engine),
    '0019-vm-backups': vmBackups(engine),
    '0020-vm-usage': vmUsage(engine),
    '0021-handles-of-account': handlesOfAccount,
    '0022-user-data': userData(engine),
    '0024-added-addresses': addedAddresses(engine),
    '0025-events': events(engine),
    '0026-vm-consoles': vmConsoles(engine),
    '0027-vm-isos': vmIsos,
    '0028-transfer-locks': transferLocks(engine),
    '0029-domain-moves': domainMoves(engine),
    '0031-vm-facts': vmFacts(engine),
    '0032-vm-abuse': vmAbuse(engine),
    '0033-vm-monitors': vmMonitors(engine),
    '0034-dnssec': dnssec(engine),
    '0036-webhook-queues': webhookQueues(engine),
    '0037-serving-versions': servingVersions,
    '0038-ended-machines': endedMachines(engine),
  };
}
