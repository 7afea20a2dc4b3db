/** DNS records in the form of POST /domain/{domain}/dns/edit (types and rules: not shown; our choice). */
import { domainToASCII } from 'node:url';

import { DNS_RECORD_TYPES } from '../generated/facts.gen.ts';
import type { BrokenField } from './broken-field.ts';
import { DATA_RULES, LABEL } from './dns-data.ts';
import type { RecordType } from './dns-data.ts';

/** A record, normalised. */
export interface DnsRecord {
  readonly type: RecordType;
  /** Empty for the domain itself. */
  readonly sub: string;
  readonly data: string;
}

/** The record that a form asks for, or every rule that it breaks. */
export function readDnsRecord(
  form: { readonly type: string; readonly sub?: string; readonly data: string },
  domain: string,
): { readonly record: DnsRecord } | { readonly broken: BrokenField[] } {
  const type = typeOf(form.type);
  if (type === undefined) return { broken: [{ field: 'type', rule: 'exists', message: `must be one of ${DNS_RECORD_TYPES.join(', ')}` }] };
  const broken: BrokenField[] = [];
  const rule = DATA_RULES[type];
  const data = rule.read(form.data);
  if (data === undefined) broken.push({ field: 'data', rule: rule.rule, message: rule.message });
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
  if (sub !== undefined && data !== undefined && leadsToItself({ type, sub, data }, domain))
    broken.push({
      field: 'data',
      rule: 'distinct',
      message: `must be another name than the one that the record is for${type === 'DNAME' ? ', and not below it' : ''}`,
    });
  if (broken.length > 0 || sub === undefined || data === undefined) return { broken };
  return { record: { type, sub, data } };
}

function leadsToItself({ type, sub, data }: DnsRecord, domain: string): boolean {
  const name = sub === '' ? domain : `${sub}.${domain}`;
  return ((type === 'CNAME' || type === 'ALIAS') && data === name) || (type === 'DNAME' && `.${data}`.endsWith(`.${name}`));
}

/** Types of which a name has at most one record, so that a new one replaces it. */
export const SINGLE_TYPES: readonly string[] = ['ALIAS', 'CNAME', 'DNAME'];

/**
 * Why two records of a name exclude each other. An alias for all types excludes every other record (RFC 1034, 3.6.2), and one for addresses excludes
 * addresses.
 */
export function conflictOf(one: string, other: string): string | undefined {
  const types = [one, other];
  if (types.includes('CNAME')) return 'A CNAME cannot be next to another record';
  if (types.includes('ALIAS') && types.every((type) => ['A', 'AAAA', 'ALIAS'].includes(type)))
    return 'An ALIAS cannot be next to an address or another ALIAS';
  return one === 'DNAME' && other === 'DNAME' ? 'A DNAME cannot be next to another DNAME' : undefined;
}

function typeOf(text: string): RecordType | undefined {
  // Upper case turns some characters into other letters: ﬁ becomes FI.
  return /^[a-z]+$/i.test(text) ? DNS_RECORD_TYPES.find((type) => type === text.toUpperCase()) : undefined;
}

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
