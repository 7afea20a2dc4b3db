/** The data of SVCB and HTTPS records (RFC 9460). */
import { Address4, Address6 } from 'ip-address';

import { quoted, stringOf, wordsOf } from './dns-text.ts';

/** A record, as it is sent and as it is written. */
export interface ServiceBinding {
  readonly priority: number;
  /** A name without its final dot, or `.`. */
  readonly target: string;
  /** By ascending number. */
  readonly parameters: readonly ServiceParameter[];
}

export interface ServiceParameter {
  readonly number: number;
  readonly bytes: Buffer;
  /** `port=8443`. */
  readonly text: string;
}

/** The registered parameters, each at its number. */
const NAMES = ['mandatory', 'alpn', 'no-default-alpn', 'port', 'ipv4hint', 'ech', 'ipv6hint', 'dohpath', 'ohttp'] as const;
type Name = (typeof NAMES)[number];
const QUOTED_NAMES = new Set<Name>(['alpn', 'dohpath']);
const FIRST_FREE_NUMBER = NAMES.length;
const NO_VALUE = { bytes: Buffer.alloc(0), value: undefined };

interface ReadValue {
  readonly bytes: Buffer;
  readonly value: string | undefined;
}

/** How each value is read. `mandatory` is checked against the others. */
const readers: Readonly<Record<Name, (value: string | undefined) => ReadValue | undefined>> = {
  mandatory(value) {
    const numbers = value?.split(',').map(parameterNumber);
    if (!numbers || numbers.includes(undefined) || numbers.includes(0) || new Set(numbers).size < numbers.length) return undefined;
    const sorted = numbers.filter((number) => number !== undefined).toSorted((one, other) => one - other);
    return { bytes: Buffer.concat(sorted.map(uint16)), value: sorted.map(parameterName).join(',') };
  },
  alpn(value) {
    const protocols = value?.split(',') ?? [];
    if (protocols.length === 0 || !protocols.every((protocol) => /^[!#-+\--[\]-~]{1,255}$/.test(protocol))) return undefined;
    return { bytes: Buffer.concat(protocols.flatMap((protocol) => [Buffer.from([protocol.length]), Buffer.from(protocol)])), value };
  },
  'no-default-alpn': withoutValue,
  port(value) {
    return value !== undefined && /^(0|[1-9]\d{0,4})$/.test(value) && Number(value) <= 65_535
      ? { bytes: uint16(Number(value)), value }
      : undefined;
  },
  ipv4hint: (value) => addresses(value, (text) => (Address4.isValid(text) ? new Address4(text) : undefined)),
  ech(value) {
    const bytes = Buffer.from(value ?? '', 'base64');
    return bytes.length > 0 && bytes.toString('base64') === value ? { bytes, value } : undefined;
  },
  ipv6hint: (value) => addresses(value, (text) => (Address6.isValid(text) ? new Address6(text) : undefined)),
  dohpath: (value) => (value !== undefined && isDohPath(value) ? { bytes: Buffer.from(value), value } : undefined),
  ohttp: withoutValue,
};

/** Whether a path is a template with the variable `dns` (RFC 9461, 5). */
function isDohPath(path: string): boolean {
  const variables = path.split('{').slice(1);
  return path.startsWith('/') && variables.some((text) => text.includes('}') && /\bdns\b/.test(text.slice(0, text.indexOf('}'))));
}

/** @param readTarget The name in its ASCII form. Undefined if it is not a name. */
export function serviceBindingOf(data: string, readTarget: (text: string) => string | undefined): ServiceBinding | undefined {
  const [priority = '', name = '', ...words] = wordsOf(data) ?? [];
  const target = name === '.' ? '.' : readTarget(name);
  if (!/^(0|[1-9]\d{0,4})$/.test(priority) || Number(priority) > 65_535 || target === undefined) return undefined;
  const read = words.map(parameterOf);
  const parameters = read.filter((parameter) => parameter !== undefined).toSorted((one, other) => one.number - other.number);
  if (parameters.length < words.length || !areConsistent(parameters)) return undefined;
  // An alias has no parameters (RFC 9460, 2.4.2).
  return Number(priority) === 0 && parameters.length > 0 ? undefined : { priority: Number(priority), target, parameters };
}

function parameterOf(word: string): ServiceParameter | undefined {
  const [, key = '', given] = /^([a-z0-9-]+)(?:=(.*))?$/.exec(word) ?? [];
  const number = parameterNumber(key);
  const text = given === undefined ? undefined : stringOf(given);
  if (number === undefined || (given !== undefined && !text)) return undefined;
  const name = NAMES[number];
  const read = name === undefined ? { bytes: Buffer.from(text ?? ''), value: text } : readers[name](text);
  if (read?.value === undefined) return read && { number, bytes: read.bytes, text: key };
  // PowerDNS refuses quotation marks around numbers and addresses.
  const value = name === undefined || QUOTED_NAMES.has(name) ? quoted(read.value) : read.value;
  return { number, bytes: read.bytes, text: `${key}=${value}` };
}

/** Each parameter once, each mandatory one present, and `no-default-alpn` only with `alpn`. */
function areConsistent(parameters: readonly ServiceParameter[]): boolean {
  const numbers = new Set(parameters.map(({ number }) => number));
  const mandatory = parameters.find(({ number }) => number === 0)?.bytes ?? Buffer.alloc(0);
  const required = Array.from({ length: mandatory.length / 2 }, (_, index) => mandatory.readUInt16BE(2 * index));
  return numbers.size === parameters.length && required.every((number) => numbers.has(number)) && (!numbers.has(2) || numbers.has(1));
}

/** `key9` is the parameter 9 (RFC 9460, 2.1). A registered parameter has its name. */
function parameterNumber(key: string): number | undefined {
  const registered = NAMES.findIndex((name) => name === key);
  if (registered !== -1) return registered;
  const [, digits] = /^key([1-9]\d{0,4})$/.exec(key) ?? [];
  const number = Number(digits);
  return number >= FIRST_FREE_NUMBER && number < 65_535 ? number : undefined;
}

function parameterName(number: number): string {
  return NAMES[number] ?? `key${number}`;
}

function withoutValue(value: string | undefined): ReadValue | undefined {
  return value === undefined ? NO_VALUE : undefined;
}

function addresses(value: string | undefined, read: (text: string) => Address4 | Address6 | undefined): ReadValue | undefined {
  const found = value?.split(',').map((text) => (/[/%]/.test(text) ? undefined : read(text))) ?? [];
  const valid = found.filter((address) => address !== undefined);
  if (valid.length === 0 || valid.length < found.length) return undefined;
  return {
    bytes: Buffer.concat(valid.map(octetsOf)),
    value: valid.map((address) => address.correctForm()).join(','),
  };
}

function octetsOf(address: Address4 | Address6): Buffer {
  return address instanceof Address4
    ? Buffer.from(address.correctForm().split('.').map(Number))
    : Buffer.from(address.canonicalForm().replaceAll(':', ''), 'hex');
}

/** A number in two bytes, in network order. */
export function uint16(number: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(number);
  return bytes;
}
