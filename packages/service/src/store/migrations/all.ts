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
    '0016-rdns': rdns(engine),
    '0017-sample-vms': sampleVms,
