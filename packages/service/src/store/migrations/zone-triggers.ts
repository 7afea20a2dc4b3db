import type { Kysely } from 'kysely';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';
import { createTrigger } from './triggers.ts';
import type { RowTrigger } from './triggers.ts';

/** A change that a zone must be published after. */
interface ZoneTrigger extends Omit<RowTrigger, 'action'> {
  /** The column with the name of the domain. */
  readonly domain: string;
}

function isDistinct(columns: readonly string[]): string {
  return columns.map((name) => `old.${name} is distinct from new.${name}`).join(' or ');
}

const isOtherRecord = isDistinct(['domain', 'sub', 'type', 'data', 'ttl']);
const isOtherDelegation = isDistinct(['ns1', 'ns2', 'ns3', 'ns4', 'ns5']);

/** Those of the first schema. */
export const ZONE_CHANGES: readonly ZoneTrigger[] = [
  { trigger: 'dns_records_added', event: 'insert on dns_records', domain: 'new.domain', when: '1 = 1' },
  { trigger: 'dns_records_changed', event: 'update on dns_records', domain: 'new.domain', when: isOtherRecord },
  { trigger: 'dns_records_removed', event: 'delete on dns_records', domain: 'old.domain', when: '1 = 1' },
  { trigger: 'domains_added', event: 'insert on domains', domain: 'new.name', when: `new.state <> 'reserved'` },
  {
    trigger: 'domains_changed',
    event: 'update on domains',
    domain: 'new.name',
    when: `new.state <> 'reserved' and (old.state = 'reserved' or ${isOtherDelegation})`,
  },
  { trigger: 'domains_removed', event: 'delete on domains', domain: 'old.name', when: `old.state <> 'reserved'` },
];

/** Creates the triggers that add the zones that must be published, so that no writer can forget it. */
export async function createZoneTriggers(db: Kysely<Schema>, engine: Engine, changes: readonly ZoneTrigger[]): Promise<void> {
  for (const change of changes) await createTrigger(db, engine, toTrigger(change));
}

function toTrigger({ domain, ...change }: ZoneTrigger): RowTrigger {
  const action = `insert into zone_changes (domain, version, next_attempt, claimed_until, attempts) values (${domain}, 1, 0, 0, 0)
     on conflict (domain) do update set version = zone_changes.version + 1, next_attempt = 0`;
  return { ...change, action };
}
