/** The answers of a name server for one zone (RFC 1034, 4.3.2), as a pure function. */
import type { RecordSet, Zone } from '@reseller/adapters';

/** A response without the packet around it. */
export interface DnsAnswer {
  readonly outcome: 'NOERROR' | 'SERVFAIL' | 'NXDOMAIN' | 'REFUSED';
  readonly answers: readonly RecordSet[];
  /** The start of authority if there is no answer, or the nameservers of a delegated part of the zone. */
  readonly authorities: readonly RecordSet[];
  /** Whether the zone is responsible for the name. */
  readonly isAuthoritative: boolean;
  /** A name whose addresses complete the answer, if the record with the question's answer is an ALIAS. */
  readonly alias?: { readonly name: string; readonly target: string; readonly ttl: number };
}

/** The time for which resolvers remember that a name does not exist, in seconds. */
const NEGATIVE_TTL_SECONDS = 60;
const ZONE_TTL_SECONDS = 3600;
const ALL_TYPES = 'ANY';
const ADDRESS_TYPES = new Set(['A', 'AAAA']);
/** A chain of aliases within the zone is followed this far. */
const MAX_ALIASES = 8;

export const REFUSED: DnsAnswer = { outcome: 'REFUSED', answers: [], authorities: [], isAuthoritative: false };
const FAILED: DnsAnswer = { ...REFUSED, outcome: 'SERVFAIL' };

/**
 * @param zone The zone that the name is in.
 * @param name Lower case, without the final dot.
 */
export function answerOf(zone: Zone, name: string, type: string): DnsAnswer {
  const sets = [...zone.records, ...apexOf(zone)];
  const delegation = delegationOf(zone, sets, name);
  if (delegation) return { outcome: 'NOERROR', answers: [], authorities: [delegation], isAuthoritative: false };
  const answers: RecordSet[] = [];
  let asked = name;
  for (let aliases = 0; aliases < MAX_ALIASES; aliases++) {
    const own = setsAt(zone, sets, asked);
    const found = own.filter((set) => set.type !== 'ALIAS' && (set.type === type || type === ALL_TYPES));
    answers.push(...found);
    const address = ADDRESS_TYPES.has(type) ? own.find((set) => set.type === 'ALIAS') : undefined;
    const [addressTarget] = address?.data ?? [];
    if (address && addressTarget !== undefined)
      return { ...complete(answers), alias: { name: asked, target: addressTarget, ttl: address.ttl } };
    const redirection = redirectionOf(sets, asked);
    answers.push(...redirection);
    const alias = redirection.at(-1) ?? (found.length === 0 ? own.find((set) => set.type === 'CNAME') : undefined);
    if (alias && redirection.length === 0) answers.push(alias);
    const [target] = alias?.data ?? [];
    if (target === undefined || !isIn(zone, target)) break;
    asked = target.toLowerCase();
  }
  if (answers.length > 0) return complete(answers);
  const outcome = exists(zone, sets, name) ? 'NOERROR' : 'NXDOMAIN';
  return { outcome, answers, authorities: [startOfAuthority(zone)], isAuthoritative: true };
}

/** The answer with the addresses of the name that an ALIAS names. It fails if the server does not know that name. */
export function withAddresses(answer: DnsAnswer, { outcome, answers }: DnsAnswer, type: string): DnsAnswer {
  const { alias, ...own } = answer;
  if (alias === undefined) return own;
  if (outcome === 'REFUSED' || outcome === 'SERVFAIL') return FAILED;
  const addresses = answers.filter((set) => set.type === type);
  return {
    ...own,
    answers: [...own.answers, ...addresses.map((set) => ({ ...set, name: alias.name, ttl: Math.min(set.ttl, alias.ttl) }))],
  };
}

function complete(answers: readonly RecordSet[]): DnsAnswer {
  return { outcome: 'NOERROR', answers, authorities: [], isAuthoritative: true };
}

/** The DNAME that a name is below, and the alias that follows from it (RFC 6672, 3.1). Empty if there is none. */
function redirectionOf(sets: readonly RecordSet[], name: string): RecordSet[] {
  const dname = sets.find((set) => set.type === 'DNAME' && name.endsWith(`.${set.name}`));
  const [target] = dname?.data ?? [];
  if (dname === undefined || target === undefined) return [];
  return [dname, { name, type: 'CNAME', ttl: dname.ttl, data: [name.slice(0, -dname.name.length) + target] }];
}

/** Whether a name is that of the zone or below it. */
export function isIn({ name: zone }: Pick<Zone, 'name'>, name: string): boolean {
  const lower = name.toLowerCase();
  return lower === zone || lower.endsWith(`.${zone}`);
}

function apexOf(zone: Zone): RecordSet[] {
  return [startOfAuthority(zone), { name: zone.name, type: 'NS', ttl: ZONE_TTL_SECONDS, data: zone.nameservers }];
}

/** Its serial number does not matter, because no other server copies the zone from here. */
function startOfAuthority({ name, nameservers: [first = name] }: Zone): RecordSet {
  return {
    name,
    type: 'SOA',
    ttl: NEGATIVE_TTL_SECONDS,
    data: [`${first} hostmaster.${name} 1 10800 3600 604800 ${NEGATIVE_TTL_SECONDS}`],
  };
}

/** The nameservers of the part of the zone that has the name, if other servers are responsible for it. */
function delegationOf(zone: Zone, sets: readonly RecordSet[], name: string): RecordSet | undefined {
  return sets.find((set) => set.type === 'NS' && set.name !== zone.name && isIn({ name: set.name }, name));
}

/** The records of a name, or of the wildcard that is responsible for it (RFC 4592). */
function setsAt(zone: Zone, sets: readonly RecordSet[], name: string): readonly RecordSet[] {
  if (exists(zone, sets, name)) return sets.filter((set) => set.name === name);
  for (let parent = parentOf(name); isIn(zone, parent); parent = parentOf(parent)) {
    const wildcard = sets.filter((set) => set.name === `*.${parent}`);
    if (wildcard.length > 0) return wildcard.map((set) => ({ ...set, name }));
    if (exists(zone, sets, parent)) break;
  }
  return [];
}

/** Whether the name, or one below it, has a record. */
function exists(zone: Zone, sets: readonly RecordSet[], name: string): boolean {
  return name === zone.name || sets.some((set) => isIn({ name }, set.name));
}

function parentOf(name: string): string {
  return name.slice(name.indexOf('.') + 1 || name.length);
}
