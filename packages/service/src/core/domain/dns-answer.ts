/** The answers of a name server for one zone (RFC 1034, 4.3.2). It reads the names that a question leads to, and never the whole zone. */
import type { RecordSet, Zone } from '@reseller/adapters';

/** A zone that is asked for single names. */
export interface AnsweringZone extends Pick<Zone, 'name' | 'nameservers'> {
  at(name: string): Promise<FoundName>;
}

/** What a zone has for a name. */
export interface FoundName {
  /** Those of the name, the NS and DNAME records above it, and those of the wildcard below `closest`. */
  readonly sets: readonly RecordSet[];
  /** The longest name at or above the name that exists, because it, or one below it, has a record. */
  readonly closest: string;
}

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
export async function answerOf(zone: AnsweringZone, name: string, type: string): Promise<DnsAnswer> {
  const first = await zone.at(name);
  const delegation = delegationOf(zone, first.sets, name);
  if (delegation) return { outcome: 'NOERROR', answers: [], authorities: [delegation], isAuthoritative: false };
  const answers: RecordSet[] = [];
  let [asked, found] = [name, first];
  for (let aliases = 0; aliases < MAX_ALIASES; aliases++) {
    const own = setsAt(zone, found, asked);
    const wanted = own.filter((set) => set.type !== 'ALIAS' && (set.type === type || type === ALL_TYPES));
    answers.push(...wanted);
    const address = ADDRESS_TYPES.has(type) ? own.find((set) => set.type === 'ALIAS') : undefined;
    const [addressTarget] = address?.data ?? [];
    if (address && addressTarget !== undefined)
      return { ...complete(answers), alias: { name: asked, target: addressTarget, ttl: address.ttl } };
    const redirection = redirectionOf(found.sets, asked);
    answers.push(...redirection);
    const alias = redirection.at(-1) ?? (wanted.length === 0 ? own.find((set) => set.type === 'CNAME') : undefined);
    if (alias && redirection.length === 0) answers.push(alias);
    const [target] = alias?.data ?? [];
    if (target === undefined || !isIn(zone, target)) break;
    asked = target.toLowerCase();
    found = await zone.at(asked);
  }
  if (answers.length > 0) return complete(answers);
  const outcome = first.closest === name ? 'NOERROR' : 'NXDOMAIN';
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

function apexOf(zone: AnsweringZone): RecordSet[] {
  return [startOfAuthority(zone), { name: zone.name, type: 'NS', ttl: ZONE_TTL_SECONDS, data: zone.nameservers }];
}

/** Its serial number does not matter, because no other server copies the zone from here. */
function startOfAuthority({ name, nameservers: [first = name] }: AnsweringZone): RecordSet {
  return {
    name,
    type: 'SOA',
    ttl: NEGATIVE_TTL_SECONDS,
    data: [`${first} hostmaster.${name} 1 10800 3600 604800 ${NEGATIVE_TTL_SECONDS}`],
  };
}

/** The nameservers of the part of the zone that has the name, if other servers are responsible for it. */
function delegationOf(zone: AnsweringZone, sets: readonly RecordSet[], name: string): RecordSet | undefined {
  return sets.find((set) => set.type === 'NS' && set.name !== zone.name && isIn({ name: set.name }, name));
}

/** The records of a name, or of the wildcard that is responsible for it (RFC 4592). */
function setsAt(zone: AnsweringZone, { sets, closest }: FoundName, name: string): readonly RecordSet[] {
  if (closest !== name) return sets.filter((set) => set.name === `*.${closest}`).map((set) => ({ ...set, name }));
  return [...sets.filter((set) => set.name === name), ...(name === zone.name ? apexOf(zone) : [])];
}
