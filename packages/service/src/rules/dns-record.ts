/** DNS records in the form of POST /domain/{domain}/dns/edit (types and rules: not shown; our choice). */
import { domainToASCII } from 'node:url';

import { Address4, Address6 } from 'ip-address';

import { DNS_RECORD_TYPES } from '../generated/facts.gen.ts';
import type { BrokenField, FieldRule } from './broken-field.ts';
import { asciiNameOf } from './domain-name.ts';

/** A record, normalised. */
export interface DnsRecord {
  readonly type: RecordType;
  /** Empty for the domain itself. */
  readonly sub: string;
  readonly data: string;
}

export type RecordType = (typeof DNS_RECORD_TYPES)[number];

interface Rule {
  readonly rule: FieldRule;
  readonly message: string;
  /** The normalised data. Undefined if it breaks the rule. */
  read(data: string): string | undefined;
}

/** The rules for the data of a record. Undefined for types that take any text. */
const rules: Readonly<Record<RecordType, Rule | undefined>> = {
  A: {
    rule: 'address',
    message: 'must be an IPv4 address, such as 198.51.100.23',
    read: (data) => (isPlain(data) && Address4.isValid(data) ? new Address4(data).correctForm() : undefined),
  },
  AAAA: {
    rule: 'address',
    message: 'must be an IPv6 address, such as 2001:db8::23',
    read: (data) => (isPlain(data) && Address6.isValid(data) ? new Address6(data).correctForm() : undefined),
  },
  CAA: { rule: 'caa', message: 'must be flags, a tag and a quoted value, such as 0 issue "ca.example"', read: readCaa },
  CNAME: {
    rule: 'hostname',
    message: 'must be a fully qualified name, such as web1.reseller-customer.net',
    read: (data) => readTarget(data) ?? readServiceName(data),
  },
  MX: { rule: 'mx', message: 'must be a preference and a fully qualified name, such as 10 mail.reseller-customer.net', read: readMx },
  NS: { rule: 'hostname', message: 'must be a fully qualified name, such as ns1.reseller-dns.example', read: readTarget },
  SRV: {
    rule: 'srv',
    message: 'must be priority, weight, port and a fully qualified name, such as 10 5 5060 sip.reseller-customer.net',
    read: readSrv,
  },
  TXT: undefined,
};

/** The record that a form asks for, or every rule that it breaks. */
export function readDnsRecord(
  form: { readonly type: string; readonly sub?: string; readonly data: string },
  domain: string,
): { readonly record: DnsRecord } | { readonly broken: BrokenField[] } {
  const type = typeOf(form.type);
  if (type === undefined) return { broken: [{ field: 'type', rule: 'exists', message: `must be one of ${DNS_RECORD_TYPES.join(', ')}` }] };
  const broken: BrokenField[] = [];
  const rule = rules[type];
  const data = rule ? rule.read(form.data) : form.data;
  if (rule && data === undefined) broken.push({ field: 'data', rule: rule.rule, message: rule.message });
  const { sub, message } = subdomainOf(form.sub ?? '', domain);
  if (message !== undefined) broken.push({ field: 'sub', rule: 'subdomain', message });
  if (sub === '' && type === 'CNAME')
    broken.push({ field: 'sub', rule: 'apex', message: 'must name a subdomain, as the domain itself can have no CNAME' });
  if (sub === '' && type === 'NS')
    broken.push({
      field: 'sub',
      rule: 'apex',
      message: 'must name a subdomain; POST /domain/{domain}/nameserver sets the nameservers of the domain itself',
    });
  if (type === 'CNAME' && sub !== undefined && data === `${sub}.${domain}`)
    broken.push({ field: 'data', rule: 'distinct', message: 'must be another name than the one that the record is for' });
  if (broken.length > 0 || sub === undefined || data === undefined) return { broken };
  return { record: { type, sub, data } };
}

/** Whether two records of a name exclude each other, because one of them is a CNAME (RFC 1034, 3.6.2). */
export function excludes(one: string, other: string): boolean {
  return one === 'CNAME' || other === 'CNAME';
}

function typeOf(text: string): RecordType | undefined {
  // Upper case turns some characters into other letters: ﬁ becomes FI.
  return /^[a-z]+$/i.test(text) ? DNS_RECORD_TYPES.find((type) => type === text.toUpperCase()) : undefined;
}

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/** The subdomain in its ASCII form, or the expectation. */
function subdomainOf(
  text: string,
  domain: string,
): { readonly sub: string; readonly message?: never } | { readonly sub?: never; readonly message: string } {
  if (text === '' || text === '@') return { sub: '' };
  const labels = text.split('.').map(asciiLabelOf);
  const [first = '', ...rest] = labels;
  const sub = labels.join('.');
  // The domain itself is appended to the subdomain, so it must not be part of it.
  if (`.${sub}`.endsWith(`.${domain}`)) {
    const meant = sub.slice(0, -domain.length - 1);
    return { message: `must be ${meant === '' ? 'empty' : meant}, without the domain itself, which is added to it` };
  }
  if (`${sub}.${domain}`.length > 253) return { message: 'must be shorter: with the domain it has more than 253 characters' };
  const isName = (first === '*' || LABEL.test(first)) && rest.every((label) => LABEL.test(label));
  return isName ? { sub } : { message: 'must be a subdomain without the domain itself, such as www, or empty for the domain itself' };
}

/** Without letters of other scripts, `domainToASCII` would read numbers as an IP address. */
function asciiLabelOf(label: string): string {
  return /^(?:[\p{L}\p{M}\p{N}-]|\u00B7|\u200C|\u200D)+$/u.test(label) && /\P{ASCII}/u.test(label)
    ? domainToASCII(label)
    : label.toLowerCase();
}

/** The address library would also accept a subnet or a zone. */
function isPlain(address: string): boolean {
  return !/[/%]/.test(address);
}

function readTarget(text: string): string | undefined {
  return asciiNameOf(text.endsWith('.') ? text.slice(0, -1) : text);
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
  const match = /^(\d{1,3})\s+([a-z0-9]{1,15})\s+"([ !#-~]{0,255})"$/i.exec(data.trim());
  const [, flags = '', tag = '', value = ''] = match ?? [];
  return match && readNumber(flags, 255) !== undefined ? `${flags} ${tag.toLowerCase()} "${value}"` : undefined;
}
