/** Zones in PowerDNS Authoritative Server, by its HTTP API (version 4.3 or later). */
import { dsRecordOf } from '../dns.ts';
import type { Dns, DsRecord, RecordSet, Zone } from '../dns.ts';
import type { Fence, FencingToken } from '../fencing.ts';
import { absolute, contentOf } from './content.ts';

export interface PowerDnsOptions {
  /** Where its web server listens, such as `http://127.0.0.1:8081`. */
  readonly url: string;
  /** The value of its setting `api-key`. */
  readonly apiKey: string;
  /** The mark of the service. It is the account of each zone that the adapter creates, and the adapter changes no zone with another one. */
  readonly serviceId: string;
  readonly fence: Fence;
  /** Whether new zones are signed, and accounts can turn on DNSSEC. Zones that exist are not signed by it. Default: true. */
  readonly dnssec?: boolean;
}

/** PowerDNS cannot be reached or refused a request, or a zone belongs to another program. The message is one line. */
export class PowerDnsError extends Error {
  override readonly name = 'PowerDnsError';
}

/** A record set of its API. */
interface ApiRecordSet {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly records: readonly { readonly content: string; readonly disabled: boolean }[];
}

interface ApiZone {
  readonly account: string;
  readonly rrsets: readonly ApiRecordSet[];
}

/** The adapter decides nothing about these: PowerDNS makes them. */
const OWN_TYPES = new Set(['SOA', 'RRSIG', 'DNSKEY', 'NSEC', 'NSEC3', 'NSEC3PARAM', 'CDS', 'CDNSKEY']);
const NAMESERVER_TTL_SECONDS = 3_600;
const TIMEOUT_MS = 20_000;

export function powerDns({ url, apiKey, serviceId, fence, dnssec = true }: PowerDnsOptions): Dns {
  const zones = new URL('api/v1/servers/localhost/zones', url.endsWith('/') ? url : `${url}/`).href;

  async function request(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await send(url, `${zones}${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.ok || response.status === 404) return response;
    throw new PowerDnsError(`PowerDNS refused ${method} of the zone with status ${response.status}: ${reasonIn(await response.text())}`);
  }

  /**
   * @returns Undefined if PowerDNS does not have the zone.
   * @throws PowerDnsError if the zone belongs to another program.
   */
  async function ownZone(name: string): Promise<ApiZone | undefined> {
    const response = await request('GET', zonePath(name));
    if (response.status === 404) return undefined;
    const { account, rrsets }: ApiZone = zoneIn(await response.json());
    if (account === serviceId) return { account, rrsets };
    throw new PowerDnsError(
      `PowerDNS has a zone ${name} of ${account === '' ? 'no account' : `the account ${account}`}, so this service (account ${serviceId}) does not change it. Remove that zone, or give it this account.`,
    );
  }

  /** PowerDNS with SQLite responds to a write with 500 while it carries out another one. */
  let last: Promise<void> = Promise.resolve();
  function inTurn(work: () => Promise<void>): Promise<void> {
    const ended = last.then(work);
    last = ended.catch(() => {});
    return ended;
  }

  async function publish(zone: Zone, token: FencingToken): Promise<void> {
    const existing = await ownZone(zone.name);
    const wanted = setsOf(zone);
    await fence.admit(`zone/${zone.name}`, token);
    if (existing === undefined) {
      const created = { name: absolute(zone.name), kind: 'Native', account: serviceId, dnssec, api_rectify: true, rrsets: wanted };
      await request('POST', '', { ...created, nameservers: [] });
      return;
    }
    const changes = changesBetween(existing.rrsets, wanted);
    if (changes.length > 0) await request('PATCH', zonePath(zone.name), { rrsets: changes });
  }

  async function remove(name: string, token: FencingToken): Promise<void> {
    const existing = await ownZone(name);
    await fence.admit(`zone/${name}`, token);
    if (existing) await request('DELETE', zonePath(name));
  }

  async function dsRecords(name: string): Promise<readonly DsRecord[]> {
    if ((await ownZone(name)) === undefined) return [];
    const keys: unknown = await (await request('GET', `${zonePath(name)}/cryptokeys`)).json();
    return Array.isArray(keys) ? keys.flatMap(dsRecordsOf) : [];
  }

  return {
    ...(dnssec && { dsRecords }),
    publish: (zone, token) => inTurn(() => publish(zone, token)),
    remove: (name, token) => inTurn(() => remove(name, token)),
  };
}

/** @throws TypeError if a response is not a zone. */
function zoneIn(response: unknown): ApiZone {
  const { account, rrsets } = Object(response);
  if (typeof account !== 'string' || !Array.isArray(rrsets)) throw new TypeError('PowerDNS returned something other than a zone.');
  return { account, rrsets };
}

/** The DS records with SHA-256 of a key. Resolvers ignore those with SHA-1, and those with SHA-384 say the same again. */
function dsRecordsOf(key: unknown): DsRecord[] {
  const { active, published, ds } = Object(key);
  if (active !== true || published === false || !Array.isArray(ds)) return [];
  return ds.map((text) => dsRecordOf(String(text))).filter(({ digestType }) => digestType === 2);
}

function zonePath(zone: string): string {
  return `/${encodeURIComponent(absolute(zone))}`;
}

/** @throws PowerDnsError with the code of the connection, because the message of `fetch` says only that it failed. */
async function send(server: string, url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const reason: unknown = Object(Object(error).cause).code ?? Object(error).message;
    throw new PowerDnsError(`PowerDNS cannot be reached at ${server}: ${String(reason)}. Check that its web server runs there.`, {
      cause: error,
    });
  }
}

/** The problem in a response of PowerDNS. */
function reasonIn(text: string): string {
  try {
    const { error } = Object(JSON.parse(text));
    return typeof error === 'string' ? error : text.slice(0, 200);
  } catch {
    return text.slice(0, 200);
  }
}

function setsOf({ name, nameservers, records }: Zone): ApiRecordSet[] {
  return [{ name, type: 'NS', ttl: NAMESERVER_TTL_SECONDS, data: nameservers }, ...records].map(toApi);
}

function toApi({ name, type, ttl, data }: RecordSet): ApiRecordSet {
  return { name: absolute(name), type, ttl, records: data.map((text) => ({ content: contentOf(type, text), disabled: false })) };
}

/** The changes that make the record sets of a zone the wanted ones. PowerDNS carries them out together or not at all. */
function changesBetween(existing: readonly ApiRecordSet[], wanted: readonly ApiRecordSet[]) {
  const known = new Map(existing.map((set) => [keyOf(set), set]));
  const kept = new Set(wanted.map(keyOf));
  const removed = existing.filter((set) => !OWN_TYPES.has(set.type) && !kept.has(keyOf(set)));
  return [
    // An alias and another record of its name exclude each other, so what goes must go first.
    ...removed.map(({ name, type }) => ({ name, type, changetype: 'DELETE', records: [] })),
    ...wanted.filter((set) => !isSame(set, known.get(keyOf(set)))).map((set) => ({ ...set, changetype: 'REPLACE' })),
  ];
}

function keyOf({ name, type }: Pick<ApiRecordSet, 'name' | 'type'>): string {
  return `${name.toLowerCase()} ${type}`;
}

function isSame(wanted: ApiRecordSet, existing: ApiRecordSet | undefined): boolean {
  function contents({ records }: ApiRecordSet): string[] {
    return records.map(({ content }) => content).toSorted();
  }
  return existing !== undefined && wanted.ttl === existing.ttl && JSON.stringify(contents(wanted)) === JSON.stringify(contents(existing));
}
