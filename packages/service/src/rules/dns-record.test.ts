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
  // The long s, whose upper case is S.
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

test('a subdomain that repeats the domain is refused with the one that is meant, in either script', () => {
  const record = { type: 'A', data: '198.51.100.23' };
  expect(readDnsRecord({ ...record, sub: 'www.bücher.de' }, 'xn--bcher-kva.de')).toEqual({
    broken: [{ field: 'sub', rule: 'subdomain', message: 'must be www, without the domain itself, which is added to it' }],
  });
  expect(readDnsRecord({ ...record, sub: DOMAIN }, DOMAIN)).toMatchObject({
    broken: [{ message: 'must be empty, without the domain itself, which is added to it' }],
  });
  // A name that merely ends in the same letters is another one.
  expect(readDnsRecord({ ...record, sub: `other-${DOMAIN}` }, DOMAIN)).toHaveProperty('record');
});

test('converts a subdomain of another script to ASCII, and leaves numbers as they are', () => {
  expect(readDnsRecord({ type: 'A', sub: 'Bücher.1', data: '198.51.100.23' }, DOMAIN)).toMatchObject({
    record: { sub: 'xn--bcher-kva.1' },
  });
});

test('what is read once is read as the same again', () => {
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

test('a CNAME stands alone', () => {
  expect([
    excludes('A', 'A'),
    excludes('A', 'AAAA'),
    excludes('CNAME', 'TXT'),
    excludes('TXT', 'CNAME'),
    excludes('CNAME', 'CNAME'),
  ]).toEqual([false, false, true, true, true]);
});
