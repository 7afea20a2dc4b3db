import type { Engine } from '../store.ts';
import { tables } from './0001-tables.ts';
import { endedMachines } from './0002-ended-machines.ts';
import { zones } from './0003-zones.ts';
import { addressQuarantine } from './0004-address-quarantine.ts';
import { webhookConfirmation } from './0005-webhook-confirmation.ts';
import { feedIndexes } from './0006-feed-indexes.ts';
import { listsInOrder } from './0010-lists-in-order.ts';
import { documentParts } from './0011-document-parts.ts';
import { documentsOfAccount } from './0012-documents-of-account.ts';
import { endedMachinesOfAccount } from './0013-ended-machines-of-account.ts';

/** The name of the migration that creates the tables of an empty store. */
export const FIRST_SCHEMA = '0001-tables';

/** All migrations of this version, by name, in the order in which they run. */
export function migrationsOf(engine: Engine) {
  return {
    [FIRST_SCHEMA]: tables(engine),
    '0002-ended-machines': endedMachines(engine),
    '0003-zones': zones(engine),
    '0004-address-quarantine': addressQuarantine(engine),
    '0005-webhook-confirmation': webhookConfirmation(engine),
    '0006-feed-indexes': feedIndexes,
    '0010-lists-in-order': listsInOrder,
    '0011-document-parts': documentParts(engine),
    '0012-documents-of-account': documentsOfAccount,
    '0013-ended-machines-of-account': endedMachinesOfAccount,
  };
}
