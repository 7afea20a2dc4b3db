import fc from 'fast-check';
import { expect, test } from 'vitest';

import { excludes, readDnsRecord } from './dns-record.ts';

const DOMAIN = 'reseller-customer.net';

test.each([
  ['a', '', '198.51.100.23', '198.51.100.23'],
  ['AAAA', '@', '2001:DB8:0::23', '2001:db8::23'],
  ['CNAME', 'www', 'Web1.Reseller-Customer.net.', 'web1.reseller-customer.net'],
  ['CNAME', 'k1._domainkey', 'k1._domainkey.mailer.example', 'k1._domainkey.mailer.example'],
  ['MX', '', '10 mail.bücher.de', '10 mail.xn--bcher-kva.de'],
  ['MX', '', '0 .', '0 .'],
  ['NS', 'lab', 'ns1.reseller-dns.example', 'ns1.reseller-dns.example'],
  ['SRV', '_sip._tcp', '10  5 5060 sip.reseller-customer.net', '10 5 5060 sip.reseller-customer.net'],
  ['SRV', '_imap._tcp', '0 0 0 .', '0 0 0 .'],
  ['CAA', '', '0 Issue "ca.example"', '0 issue "ca.example"'],
  ['TXT', '_dmarc', 'v=DMARC1; p=none', 'v=DMARC1; p=none'],
  ['TXT', '*', 'für alle', 'für alle'],
])('%s of "%s": %s is %s', (type, sub, data, normalised) => {
  expect(readDnsRecord({ type, sub, data }, DOMAIN)).toEqual({
    record: { type: type.toUpperCase(), sub: sub === '@' ? '' : sub, data: normalised },
  });
});

test.each([
  ['WKS', 'www', '198.51.100.23', 'type', 'exists'],
  ['constructor', 'www', '198.51.100.23', 'type', 'exists'],
  // The long s (ſ), whose upper case is S.
  ['n\u017F', 'lab', 'ns1.reseller-dns.example', 'type', 'exists'],
  ['A', 'www', '198.51.100', 'data', 'address'],
  ['A', 'www', '198.51.100.256', 'data', 'address'],
  ['A', 'www', '198.51.100.0/24', 'data', 'address'],
  ['A', 'www', '2001:db8::1', 'data', 'address'],
  ['AAAA', 'www', 'fe80::1%eth0', 'data', 'address'],
  ['AAAA', 'www', '198.51.100.23', 'data', 'address'],
  ['CNAME', 'www', 'web 1.example', 'data', 'hostname'],
  ['CNAME', 'www', '198.51.100.23', 'data', 'hostname'],
  ['CNAME', '', 'web1.example', 'sub', 'apex'],
  ['NS', '@', 'ns1.reseller-dns.example', 'sub', 'apex'],
  ['NS', 'lab', 'ns_1.example', 'data', 'hostname'],
  ['MX', '', 'mail.example.net', 'data', 'mx'],
  ['MX', '', '65536 mail.example.net', 'data', 'mx'],
  ['MX', '', '-1 mail.example.net', 'data', 'mx'],
  ['MX', '', '10 .', 'data', 'mx'],
  ['SRV', '_sip._tcp', '10 5 sip.example.net', 'data', 'srv'],
  ['SRV', '_sip._tcp', '10 5 70000 sip.example.net', 'data', 'srv'],
  ['CAA', '', '256 issue "ca.example"', 'data', 'caa'],
  ['CAA', '', '0 issue ca.example', 'data', 'caa'],
  ['CAA', '', '0 issue "a"b"', 'data', 'caa'],
  ['A', 'www.', '198.51.100.23', 'sub', 'subdomain'],
  ['A', 'a b', '198.51.100.23', 'sub', 'subdomain'],
  ['A', 'a.*', '198.51.100.23', 'sub', 'subdomain'],
  ['A', '-a', '198.51.100.23', 'sub', 'subdomain'],
  ['A', 'x'.repeat(64), '198.51.100.23', 'sub', 'subdomain'],
  ['A', 'a.'.repeat(120) + 'a', '198.51.100.23', 'sub', 'subdomain'],
  ['A', DOMAIN, '198.51.100.23', 'sub', 'subdomain'],
  ['A', `www.${DOMAIN}`, '198.51.100.23', 'sub', 'subdomain'],
  ['A', 'WWW.Reseller-Customer.NET', '198.51.100.23', 'sub', 'subdomain'],
  ['A', `*.${DOMAIN}`, '198.51.100.23', 'sub', 'subdomain'],
  ['CNAME', 'www', `www.${DOMAIN}.`, 'data', 'distinct'],
])('%s of "%s" with %s breaks the rule %s %s', (type, sub, data, field, rule) => {
  const read = readDnsRecord({ type, sub, data }, DOMAIN);
  expect(read).toMatchObject({ broken: expect.arrayContaining([{ field, rule, message: expect.stringMatching(/^must /) }]) });
});

test('refuses a subdomain that repeats the domain, and names the probably intended one, in either script', () => {
  const record = { type: 'A', data: '198.51.100.23' };
  expect(readDnsRecord({ ...record, sub: 'www.bücher.de' }, 'xn--bcher-kva.de')).toEqual({
    broken: [{ field: 'sub', rule: 'subdomain', message: 'must be www, without the domain itself, which is added to it' }],
  });
  expect(readDnsRecord({ ...record, sub: DOMAIN }, DOMAIN)).toMatchObject({
    broken: [{ message: 'must be empty, without the domain itself, which is added to it' }],
  });
  // A name that only ends with the same letters is allowed.
  expect(readDnsRecord({ ...record, sub: `other-${DOMAIN}` }, DOMAIN)).toHaveProperty('record');
});

test('converts a subdomain in another script to ASCII, and does not change numbers', () => {
  expect(readDnsRecord({ type: 'A', sub: 'Bücher.1', data: '198.51.100.23' }, DOMAIN)).toMatchObject({
    record: { sub: 'xn--bcher-kva.1' },
  });
});

test('returns a normalised record unchanged', () => {
  const types = fc.constantFrom('A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'SRV', 'TXT');
  const data = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.domain(),
    fc.nat(70_000).chain((number) => fc.domain().map((name) => `${number} ${name}`)),
    fc.string({ unit: 'grapheme' }),
  );
  fc.assert(
    fc.property(types, fc.oneof(fc.domain(), fc.string()), data, (type, sub, text) => {
      const read = readDnsRecord({ type, sub, data: text }, DOMAIN);
      expect('record' in read ? readDnsRecord(read.record, DOMAIN) : read).toEqual(read);
    }),
  );
});

test('refuses a CNAME next to other records', () => {
  expect([
    excludes('A', 'A'),
    excludes('A', 'AAAA'),
    excludes('CNAME', 'TXT'),
    excludes('TXT', 'CNAME'),
    excludes('CNAME', 'CNAME'),
  ]).toEqual([false, false, true, true, true]);
});

const chars = (length: number): string => 'a'.repeat(length);
/** A name of the given length with labels of at most 63 characters. */
function nameOfLength(length: number): string {
  return Array.from({ length: Math.ceil(length / 64) }, (_, index) => chars(Math.min(63, length - 64 * index))).join('.');
}
const dataOf = (type: string, data: string, sub = 'www'): string | undefined => {
  const read = readDnsRecord({ type, sub, data }, DOMAIN);
  return 'record' in read ? read.record.data : undefined;
};
const subOf = (sub: string): string | undefined => {
  const read = readDnsRecord({ type: 'A', sub, data: '198.51.100.23' }, DOMAIN);
  return 'record' in read ? read.record.sub : undefined;
};

test('limits a subdomain and the domain to 253 characters together, with their dot', () => {
  const longest = nameOfLength(253 - DOMAIN.length - 1);
  expect(`${longest}.${DOMAIN}`.length).toBe(253);
  expect(subOf(longest)).toBe(longest);
  expect(readDnsRecord({ type: 'A', sub: `${longest}a`, data: '198.51.100.23' }, DOMAIN)).toEqual({
    broken: [{ field: 'sub', rule: 'subdomain', message: 'must be shorter: with the domain it has more than 253 characters' }],
  });
});

test.each([
  [chars(63), chars(63)],
  [`a.${chars(63)}`, `a.${chars(63)}`],
  ['_a._b', '_a._b'],
  ['A-B', 'a-b'],
  ['*', '*'],
  ['*.a', '*.a'],
  ['0', '0'],
  ['1.2.3', '1.2.3'],
  ['@', ''],
  ['', ''],
  ['BÜCHER', 'xn--bcher-kva'],
  // Marks and digits of other scripts, and the remaining characters of IDNA.
  ['a\u0308', 'xn--4ca'],
  ['l·l', 'xn--ll-0ea'],
  ['ü1', 'xn--1-dha'],
  ['نامه\u200Cای', 'xn--mgba3gch31f060k'],
])("the subdomain '%s' is %s", (sub, read) => expect(subOf(sub)).toBe(read));

test.each([chars(64), `a.${chars(64)}`, 'a..b', '.a', 'a.', 'a-', 'a.-b', 'a.b-', 'a.@', '**', 'a*', '*a', '!ü', 'ü!', 'ü\u0000'])(
  "'%s' is not a subdomain",
  (sub) => expect(subOf(sub)).toBeUndefined(),
);

test('applies a form without a subdomain to the domain itself', () => {
  expect(readDnsRecord({ type: 'A', data: '198.51.100.23' }, DOMAIN)).toEqual({ record: { type: 'A', sub: '', data: '198.51.100.23' } });
});

test.each([
  ['CNAME', 'a.b', 'a.b'],
  ['CNAME', 'a.b.', 'a.b'],
  ['CNAME', '_a.b', '_a.b'],
  ['CNAME', '_a.B.', '_a.b'],
  ['CNAME', '_a.1b', '_a.1b'],
  ['CNAME', '_a.b1', '_a.b1'],
  ['CNAME', `_${chars(62)}.b`, `_${chars(62)}.b`],
  ['CNAME', `_${nameOfLength(253).slice(1)}`, `_${nameOfLength(253).slice(1)}`],
  ['CNAME', `_${nameOfLength(253).slice(1)}.`, `_${nameOfLength(253).slice(1)}`],
  ['NS', 'ns1.example.', 'ns1.example'],
  ['NS', nameOfLength(253), nameOfLength(253)],
  ['NS', `${nameOfLength(253)}.`, nameOfLength(253)],
  ['MX', '0 a.b', '0 a.b'],
  ['MX', '65535 a.b.', '65535 a.b'],
  ['MX', ' 10   a.b ', '10 a.b'],
  ['MX', '0 .', '0 .'],
  ['SRV', '0 0 0 .', '0 0 0 .'],
  ['SRV', '65535 65535 65535 a.b', '65535 65535 65535 a.b'],
  ['SRV', ' 1  2   3    a.b ', '1 2 3 a.b'],
  ['CAA', '0 issue ""', '0 issue ""'],
  ['CAA', '255 issue "a"', '255 issue "a"'],
  ['CAA', '10 issue "a"', '10 issue "a"'],
  ['CAA', '  0   ISSUE   "A"  ', '0 issue "A"'],
  ['CAA', `0 ${chars(15)} "a"`, `0 ${chars(15)} "a"`],
  ['CAA', `0 issue "${chars(255)}"`, `0 issue "${chars(255)}"`],
  ['CAA', '0 issue " !#~"', '0 issue " !#~"'],
])('reads the data of a %s record %s as %s', (type, data, read) => expect(dataOf(type, data)).toBe(read));

test.each([
  ['CNAME', 'a', 'hostname'],
  ['CNAME', '_a', 'hostname'],
  ['CNAME', '_a.', 'hostname'],
  ['CNAME', '._a.b', 'hostname'],
  ['CNAME', '_a.1', 'hostname'],
  ['CNAME', '_a.127', 'hostname'],
  ['CNAME', '_a..b', 'hostname'],
  ['CNAME', '_a.b..', 'hostname'],
  ['CNAME', `_${chars(63)}.b`, 'hostname'],
  ['CNAME', `_${nameOfLength(254).slice(1)}`, 'hostname'],
  ['NS', '.ns1.example', 'hostname'],
  ['NS', nameOfLength(254), 'hostname'],
  ['MX', '65536 a.b', 'mx'],
  ['MX', '01 a.b', 'mx'],
  ['MX', '1x a.b', 'mx'],
  ['MX', '100000 a.b', 'mx'],
  ['MX', '10', 'mx'],
  ['MX', '', 'mx'],
  ['MX', '10 a.b c', 'mx'],
  ['MX', '1 .', 'mx'],
  ['SRV', '0 0 0', 'srv'],
  ['SRV', '0 0 0 a.b c', 'srv'],
  ['SRV', '0 0 0 a', 'srv'],
  ['SRV', '65536 0 0 a.b', 'srv'],
  ['SRV', '0 65536 0 a.b', 'srv'],
  ['SRV', '0 0 65536 a.b', 'srv'],
  ['SRV', '0 0 x a.b', 'srv'],
  ['SRV', '', 'srv'],
  ['CAA', '256 issue "a"', 'caa'],
  ['CAA', '1000 issue "a"', 'caa'],
  ['CAA', '00 issue "a"', 'caa'],
  ['CAA', 'x0 issue "a"', 'caa'],
  ['CAA', '0 issue "a" x', 'caa'],
  ['CAA', `0 ${chars(16)} "a"`, 'caa'],
  ['CAA', `0 issue "${chars(256)}"`, 'caa'],
  ['CAA', '0 issue "\u007F"', 'caa'],
  ['CAA', '0 issue "ü"', 'caa'],
  ['CAA', '0 is-sue "a"', 'caa'],
  ['CAA', '', 'caa'],
])("refuses the data of a %s record '%s' by the rule %s", (type, data, rule) => {
  expect(readDnsRecord({ type, sub: 'www', data }, DOMAIN)).toEqual({
    broken: [{ field: 'data', rule, message: expect.stringMatching(/^must be .+, such as .+$/) }],
  });
});

test.each(['A!', '!A', 'A A', '', 'a1'])("refuses the record type '%s', and lists the valid types", (type) => {
  expect(readDnsRecord({ type, sub: 'www', data: '198.51.100.23' }, DOMAIN)).toEqual({
    broken: [{ field: 'type', rule: 'exists', message: 'must be one of A, AAAA, CAA, CNAME, MX, NS, SRV, TXT' }],
  });
});

test('refuses only a CNAME that refers to its own name', () => {
  const sub = 'www';
  expect(readDnsRecord({ type: 'NS', sub, data: `www.${DOMAIN}` }, DOMAIN)).toHaveProperty('record');
  expect(readDnsRecord({ type: 'CNAME', sub, data: `www2.${DOMAIN}` }, DOMAIN)).toHaveProperty('record');
  expect(readDnsRecord({ type: 'CNAME', sub: 'WWW', data: `www.${DOMAIN}` }, DOMAIN)).toEqual({
    broken: [{ field: 'data', rule: 'distinct', message: 'must be another name than the one that the record is for' }],
  });
});

test('names each rule that a record breaks', () => {
  expect(readDnsRecord({ type: 'CNAME', sub: '', data: 'a' }, DOMAIN)).toEqual({
    broken: [
      { field: 'data', rule: 'hostname', message: 'must be a fully qualified name, such as web1.reseller-customer.net' },
      { field: 'sub', rule: 'apex', message: 'must name a subdomain, as the domain itself can have no CNAME' },
    ],
  });
  expect(readDnsRecord({ type: 'NS', sub: '@', data: 'a.b' }, DOMAIN)).toEqual({
    broken: [
      {
        field: 'sub',
        rule: 'apex',
        message: 'must name a subdomain; POST /domain/{domain}/nameserver sets the nameservers of the domain itself',
      },
    ],
  });
  expect(readDnsRecord({ type: 'A', sub: 'a b', data: 'x' }, DOMAIN)).toMatchObject({ broken: [{ field: 'data' }, { field: 'sub' }] });
});
