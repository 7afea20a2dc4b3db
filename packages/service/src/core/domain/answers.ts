/** Answers about names from the zones in the store. */
import type { RdnsEntry } from '../../rules/reverse-dns.ts';
import type { Db } from '../../store/store.ts';
import { answerOf, isIn, REFUSED, withAddresses } from './dns-answer.ts';
import type { AnsweringZone, DnsAnswer } from './dns-answer.ts';
import { reverseZoneAbove } from './reverse-zones.ts';
import { zoneAbove } from './zones.ts';

/** A chain of aliases through several zones is followed this far. */
const MAX_ALIASES = 8;

/** A name and a type to answer for. */
export interface DnsQuestion {
  /** Lower case, without the final dot. */
  readonly name: string;
  readonly type: string;
  /** The provider's nameservers, which the reverse zones have. */
  readonly nameservers: readonly string[];
}

export async function answerFrom(db: Db, question: DnsQuestion, aliases = 0): Promise<DnsAnswer> {
  const { name, type, nameservers } = question;
  const zone = await zoneWith(db, name, nameservers);
  const answer = zone === undefined ? REFUSED : await answerOf(zone, name, type);
  if (answer.alias === undefined) return answer;
  const { target } = answer.alias;
  return withAddresses(answer, aliases === MAX_ALIASES ? REFUSED : await answerFrom(db, { ...question, name: target }, aliases + 1), type);
}

/**
 * Whether the zones in the store give the name of an address that address.
 *
 * @param nameservers The provider's nameservers.
 * @returns Null if this cannot be told: the name, or an alias that it leads to, is in no zone of the service, or other nameservers answer for it.
 */
export async function isForwardConfirmed(db: Db, { address, domain }: RdnsEntry, nameservers: readonly string[]): Promise<boolean | null> {
  const type = address.includes(':') ? 'AAAA' : 'A';
  let name = domain;
  for (let aliases = 0; name !== null && aliases <= MAX_ALIASES; aliases++) {
    const zone = await zoneWith(db, name, nameservers);
    if (!zone?.nameservers.every((one) => nameservers.includes(one))) return null;
    const answer = await answerOf(zone, name, type);
    if (!answer.isAuthoritative) return null;
    if (answer.answers.some((set) => set.type === type))
      return answer.answers.some((set) => set.type === type && set.data.includes(address));
    const target = answer.alias?.target ?? answer.answers.findLast((set) => set.type === 'CNAME')?.data[0];
    if (target === undefined || (answer.alias === undefined && isIn(zone, target))) return false;
    name = target.toLowerCase();
  }
  return null;
}

/** The zone that a name is in. */
async function zoneWith(db: Db, name: string, nameservers: readonly string[]): Promise<AnsweringZone | undefined> {
  return (await reverseZoneAbove(db, name, nameservers)) ?? zoneAbove(db, name);
}
