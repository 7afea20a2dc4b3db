/** Operations of resellers on the DNS records of their domains. */
import { expect } from 'vitest';

import type { Reply } from './client.ts';
import { ownDomain, remove } from './model.ts';
import type { ModelAccount, ModelDomain, ModelRecord } from './model.ts';
import { notFound, send, wrongState } from './requests.ts';
import type { Prediction } from './requests.ts';
import type { Dice } from './seeded-random.ts';
import type { Simulation } from './simulation.ts';

const DEFAULT_TTL = 3600;
const UNKNOWN_RECORD = '01900000-0000-7000-8000-00000000dead';

type Wanted = Pick<ModelRecord, 'type' | 'sub' | 'data'>;

/** Only a few names and values, so that records often conflict. */
function randomRecord(dice: Dice): Wanted {
  const type = dice.pick(['A', 'A', 'TXT', 'TXT', 'MX', 'CNAME']);
  const number = dice.integer(1, 3);
  const data = { A: `192.0.2.${number}`, TXT: `token-${number}`, MX: `${number}0 mail.example.net`, CNAME: `web${number}.example.net` }[
    type
  ];
  return { type, sub: dice.pick(['www', 'mail', '_acme-challenge']), data: data ?? '' };
}

/** Sends `editDomainDns`, which adds a value to a name, or replaces a CNAME. */
export function ensureDnsRecord(sim: Simulation, account: ModelAccount, name: string): Promise<void> {
  const form = randomRecord(sim.dice);
  return send(sim, {
    account,
    id: 'editDomainDns',
    sent: { path: { domain: name }, form },
    otherForm: { ...form, data: `${form.data}9` },
    predict: () =>
      predictRecordChange(sim, account, name, (domain) => {
        const others = domain.records.filter(({ sub }) => sub === form.sub);
        if (others.some((other) => isSame(form, other))) return () => {};
        const cname = form.type === 'CNAME' ? others.find(({ type }) => type === 'CNAME') : undefined;
        if (cname) return () => void (cname.data = form.data);
        return isExcluded(form, others) ? undefined : () => void domain.records.push({ id: undefined, ...form, ttl: ttlOf(domain, form) });
      }),
  });
}

/** A reseller adds, changes or removes a record by its identifier. */
export async function changeDnsRecords(sim: Simulation): Promise<void> {
  const { dice, model } = sim;
  const domain = dice.pickAny([...model.domains.values()]);
  if (!domain) return sim.describe('no domain exists');
  const { account, name } = domain;
  const record = dice.pickAny(domain.records.filter(({ id }) => id !== undefined));
  if (!record || dice.chance(0.5)) return addRecord(sim, account, name);
  return dice.chance(0.5) ? editRecord(sim, account, name, record) : removeRecord(sim, account, name, record);
}

function addRecord(sim: Simulation, account: ModelAccount, name: string): Promise<void> {
  const record = randomRecord(sim.dice);
  const ttl = sim.dice.chance(0.3) ? undefined : sim.dice.pick([60, 300]);
  const form = { ...record, ...(ttl !== undefined && { ttl }) };
  return send(sim, {
    account,
    id: 'addDomainDns',
    sent: { path: { domain: name }, form },
    otherForm: { ...form, ttl: 86_400 },
    predict: () =>
      predictRecordChange<'addDomainDns'>(sim, account, name, (domain) => {
        if (isExcluded(record, domain.records)) return undefined;
        return (reply) => {
          const added = { ...record, id: reply.data().record_id, ttl: ttl ?? DEFAULT_TTL };
          expect(reply.data()).toEqual(expectedRecord(domain, added));
          domain.records.push(added);
          setTtl(domain, added);
        };
      }),
  });
}

function editRecord(sim: Simulation, account: ModelAccount, name: string, record: ModelRecord): Promise<void> {
  const { dice } = sim;
  const { sub, data, type } = randomRecord(dice);
  const changed: Partial<ModelRecord> = {
    ...(dice.chance(0.5) && { sub }),
    ...(dice.chance(0.6) && { type, data }),
    ...(dice.chance(0.4) && { ttl: dice.pick([60, 300, 7200]) }),
  };
  const record_id = record.id ?? UNKNOWN_RECORD;
  return send(sim, {
    account,
    id: 'editDomainDnsRecord',
    sent: { path: { domain: name, record_id }, form: changed },
    otherForm: { ...changed, ttl: 86_400 },
    predict: () =>
      predictRecordChange(sim, account, name, (domain) => {
        const present = domain.records.find(({ id }) => id === record_id);
        if (!present) return 'gone';
        const others = domain.records.filter((other) => other !== present);
        const next = { ...present, ...changed };
        if (isExcluded(next, others)) return undefined;
        return (reply) => {
          const ttl = changed.ttl ?? others.find((other) => isInSet(next, other))?.ttl ?? present.ttl;
          Object.assign(present, next, { ttl });
          setTtl(domain, present);
          expect(reply.data()).toEqual(expectedRecord(domain, present));
        };
      }),
  });
}

function removeRecord(sim: Simulation, account: ModelAccount, name: string, record: ModelRecord): Promise<void> {
  const record_id = record.id ?? UNKNOWN_RECORD;
  return send(sim, {
    account,
    id: 'removeDomainDns',
    sent: { path: { domain: name, record_id } },
    predict: () =>
      predictRecordChange(sim, account, name, (domain) => {
        const present = domain.records.find(({ id }) => id === record_id);
        return present ? () => remove(domain.records, present) : 'gone';
      }),
  });
}

type DnsOperation = 'editDomainDns' | 'addDomainDns' | 'editDomainDnsRecord' | 'removeDomainDns';

/**
 * Predicts a change of records, which calls no port.
 *
 * @param change Returns the effect on the model, undefined if records conflict, or `gone` if the record does not exist.
 */
function predictRecordChange<Id extends DnsOperation>(
  sim: Simulation,
  account: ModelAccount,
  name: string,
  change: (domain: ModelDomain) => Confirm<Id> | 'gone' | undefined,
): Prediction<Id> {
  const domain = ownDomain(sim.model, account, name);
  const outcome = domain ? change(domain) : 'gone';
  const refusal = outcome === 'gone' ? notFound : outcome === undefined ? wrongState : undefined;
  return {
    portUse: 'no port',
    refusal,
    reserve: () => ({ release: () => {}, confirm: typeof outcome === 'function' ? outcome : () => {} }),
  };
}

type Confirm<Id extends DnsOperation> = (reply: Reply<Id>) => void;

/** Whether a record equals another one, or would be a CNAME next to another record. */
function isExcluded(record: Wanted, records: readonly ModelRecord[]): boolean {
  const others = records.filter(({ sub }) => sub === record.sub);
  return others.some((other) => isSame(record, other) || record.type === 'CNAME' || other.type === 'CNAME');
}

function isSame(one: Wanted, other: Wanted): boolean {
  return isInSet(one, other) && one.data === other.data;
}

function isInSet(one: Pick<Wanted, 'type' | 'sub'>, other: Pick<Wanted, 'type' | 'sub'>): boolean {
  return one.type === other.type && one.sub === other.sub;
}

/** All records of a name and type have one TTL. */
function setTtl({ records }: ModelDomain, record: ModelRecord): void {
  for (const other of records) if (isInSet(record, other)) other.ttl = record.ttl;
}

function ttlOf({ records }: ModelDomain, record: Wanted): number {
  return records.find((other) => isInSet(record, other))?.ttl ?? DEFAULT_TTL;
}

/** The record as the API returns it. */
export function expectedRecord({ name }: ModelDomain, { id, type, sub, data, ttl }: ModelRecord): object {
  return { record_id: id ?? expect.any(String), type, name: `${sub}.${name}`, data, ttl };
}
