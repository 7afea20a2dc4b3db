/** The data of DNS records, by their type (types and rules: not shown; our choice). */
import { Address4, Address6 } from 'ip-address';

import type { DNS_RECORD_TYPES } from '../generated/facts.gen.ts';
import type { FieldRule } from './broken-field.ts';
import { notationOf, quoted, stringOf, textOf, wordsOf } from './dns-text.ts';
import { asciiNameOf } from './domain-name.ts';
import { serviceBindingOf } from './service-binding.ts';
import type { ServiceBinding } from './service-binding.ts';

export type RecordType = (typeof DNS_RECORD_TYPES)[number];

interface DataRule {
  readonly rule: FieldRule;
  readonly message: string;
  /** The normalised data. Undefined if it breaks the rule. */
  read(data: string): string | undefined;
}

const HOSTNAME: DataRule = {
  rule: 'hostname',
  message: 'must be a fully qualified name, such as web1.reseller-customer.net',
  read: readTarget,
};

const SERVICE_BINDING: DataRule = {
  rule: 'format',
  message:
    'must be a priority, a fully qualified name or ".", and parameters of RFC 9460 with their values, which the priority 0 excludes, such as 1 . alpn="h2,h3" port=8443',
  read(data) {
    const binding = readServiceBinding(data);
    // PowerDNS 4.7 refuses the whole zone of another parameter without a value.
    if (!binding?.parameters.every(({ text }) => text.includes('=') || text === 'no-default-alpn')) return undefined;
    return [binding.priority, binding.target, ...binding.parameters.map(({ text }) => text)].join(' ');
  },
};

export const DATA_RULES: Readonly<Record<RecordType, DataRule>> = {
  A: {
    rule: 'address',
    message: 'must be an IPv4 address, such as 198.51.100.23',
    read: (data) => (isOneAddress(data) && Address4.isValid(data) ? new Address4(data).correctForm() : undefined),
  },
  AAAA: {
    rule: 'address',
    message: 'must be an IPv6 address, such as 2001:db8::23',
    read: (data) => (isOneAddress(data) && Address6.isValid(data) ? new Address6(data).correctForm() : undefined),
  },
  ALIAS: HOSTNAME,
  CAA: { rule: 'caa', message: 'must be flags, a tag and a quoted value, such as 0 issue "ca.example"', read: readCaa },
  CNAME: { ...HOSTNAME, read: readAnyName },
  DNAME: { ...HOSTNAME, read: readAnyName },
  HTTPS: SERVICE_BINDING,
  MX: { rule: 'mx', message: 'must be a preference and a fully qualified name, such as 10 mail.reseller-customer.net', read: readMx },
  NAPTR: {
    rule: 'format',
    message:
      'must be order, preference, flags, services, expression and replacement, with an empty expression or the replacement ".", such as 100 10 "S" "SIP+D2U" "" _sip._udp.reseller-customer.net',
    read: readNaptr,
  },
  NS: { rule: 'hostname', message: 'must be a fully qualified name, such as ns1.reseller-dns.example', read: readTarget },
  SSHFP: {
    rule: 'format',
    message:
      'must be an algorithm (1, 2, 3, 4 or 6), 1 for SHA-1 or 2 for SHA-256, and the fingerprint with 40 or 64 hexadecimal digits, such as 4 1 123456789abcdef67890123456789abcdef67890',
    read: (data) => readDigest(data, [/^[12346]$/, /^[12]$/], { 1: 40, 2: 64 }),
  },
  SRV: {
    rule: 'srv',
    message: 'must be priority, weight, port and a fully qualified name, such as 10 5 5060 sip.reseller-customer.net',
    read: readSrv,
  },
  SVCB: SERVICE_BINDING,
  TLSA: {
    rule: 'format',
    message:
      'must be a usage (0 to 3), a selector (0 or 1), a matching type (0 to 2) and the certificate data in hexadecimal, with 64 digits for the matching type 1 and 128 for 2, such as 3 1 1 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    read: (data) => readDigest(data, [/^[0-3]$/, /^[01]$/, /^[0-2]$/], { 1: 64, 2: 128 }),
  },
  TXT: {
    rule: 'format',
    message:
      'must be text, and after a backslash in quotation marks a character or three digits of a byte of UTF-8 that is not a control character, such as "say \\"hello\\""',
    read(data) {
      const text = textOf(data);
      return text === undefined ? undefined : notationOf(text);
    },
  },
};

/** A label in its ASCII form. Names of services and keys have underscores. */
export const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/** The address library would also accept a subnet or a zone. */
function isOneAddress(address: string): boolean {
  return !/[/%]/.test(address);
}

function readTarget(text: string): string | undefined {
  return asciiNameOf(text.endsWith('.') ? text.slice(0, -1) : text);
}

function readAnyName(text: string): string | undefined {
  return readTarget(text) ?? readServiceName(text);
}

/** A name with underscores, such as those of services and keys. */
function readServiceName(text: string): string | undefined {
  const name = (text.endsWith('.') ? text.slice(0, -1) : text).toLowerCase();
  const labels = name.split('.');
  return name.length <= 253 && labels.length >= 2 && labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? '')
    ? name
    : undefined;
}

/** A number of 16 bits in its shortest notation. */
function readNumber(text: string, limit = 65_535): number | undefined {
  return /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= limit ? Number(text) : undefined;
}

function readMx(data: string): string | undefined {
  // Stryker disable next-line StringLiteral: no default of a missing part is valid.
  const [preference = '', target = '', ...rest] = data.trim().split(/\s+/);
  const number = readNumber(preference);
  // `0 .` says that the domain takes no mail (RFC 7505).
  const name = target === '.' && number === 0 ? '.' : readTarget(target);
  return rest.length > 0 || number === undefined || name === undefined ? undefined : `${number} ${name}`;
}

function readSrv(data: string): string | undefined {
  const parts = data.trim().split(/\s+/);
  const numbers = parts.slice(0, 3).map((part) => readNumber(part));
  // `.` says that the service is not offered (RFC 2782).
  const name = parts[3] === '.' ? '.' : readTarget(parts[3] ?? '');
  return parts.length !== 4 || numbers.includes(undefined) || name === undefined ? undefined : [...numbers, name].join(' ');
}

function readCaa(data: string): string | undefined {
  const [flags = '', tag = '', word = '', ...rest] = wordsOf(data) ?? [];
  const value = stringOf(word);
  return rest.length > 0 || word === '' || readNumber(flags, 255) === undefined || !/^[a-z0-9]{1,15}$/i.test(tag) || value === undefined
    ? undefined
    : `${flags} ${tag.toLowerCase()} ${quoted(value)}`;
}

function readNaptr(data: string): string | undefined {
  const words = wordsOf(data) ?? [];
  const numbers = words.slice(0, 2).map((word) => readNumber(word));
  const [flags, services, expression] = words.slice(2, 5).map(stringOf);
  const replacement = words[5] === '.' ? '.' : readAnyName(words[5] ?? '');
  if (words.length !== 6 || numbers.includes(undefined) || replacement === undefined) return undefined;
  if (flags === undefined || services === undefined || expression === undefined || !/^[a-z0-9]*$/i.test(flags)) return undefined;
  if (expression !== '' && (replacement !== '.' || !isSubstitution(expression))) return undefined;
  return [...numbers, ...[flags, services, expression].map(quoted), replacement].join(' ');
}

/** A delimiter, an expression, the delimiter, a substitute, the delimiter and perhaps `i` (RFC 3402, 3.2). */
function isSubstitution(text: string): boolean {
  const [delimiter = ''] = text;
  const [before, expression, , flags, ...rest] = text.replaceAll(/\\./g, '..').split(delimiter);
  return (
    !/[1-9i\\]/i.test(delimiter) && before === '' && expression !== '' && flags !== undefined && /^i?$/i.test(flags) && rest.length === 0
  );
}

/** Numbers, and data in hexadecimal, whose length the last number determines. Blanks in the data do not count. */
function readDigest(data: string, patterns: readonly RegExp[], lengths: Readonly<Record<string, number>>): string | undefined {
  const words = data.trim().split(/\s+/);
  const numbers = words.slice(0, patterns.length);
  const digits = words.slice(patterns.length).join('').toLowerCase();
  const length = lengths[numbers.at(-1) ?? ''];
  const isHexadecimal = /^(?:[0-9a-f]{2})+$/.test(digits) && (length === undefined || digits.length === length);
  return isHexadecimal && numbers.every((number, index) => patterns[index]?.test(number)) ? [...numbers, digits].join(' ') : undefined;
}

/** The data of an SVCB or HTTPS record. Undefined if it breaks a rule. */
export function readServiceBinding(data: string): ServiceBinding | undefined {
  return serviceBindingOf(data, readAnyName);
}
