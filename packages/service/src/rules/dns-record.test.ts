import fc from 'fast-check';
import { expect, test } from 'vitest';

import { conflictOf, readDnsRecord } from './dns-record.ts';

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
  ['CAA', '', '0 issue ca.example; policy=ev', 'data', 'caa'],
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
  const types = fc.constantFrom('A', 'AAAA', 'CAA', 'CNAME', 'DNAME', 'HTTPS', 'MX', 'NAPTR', 'NS', 'SRV', 'SSHFP', 'TLSA', 'TXT');
  const data = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.domain(),
    fc.nat(70_000).chain((number) => fc.domain().map((name) => `${number} ${name}`)),
    fc.string({ unit: 'grapheme' }),
    fc.array(fc.constantFrom('"', '\\', '034', ' ', 'a', ';', 'é')).map((parts) => parts.join('')),
    fc.string({ unit: fc.constantFrom('"', '\\', 'a', ' ') }).map((inner) => `"${inner}"`),
    fc.string({ unit: fc.constantFrom('"', '\\', '!', 'a', ' ') }).map((value) => `1 . alpn=${value} port=1`),
    fc.string({ unit: fc.constantFrom('"', '\\', '!', 'a') }).map((value) => `1 2 "S" "" "!${value}!b!" .`),
  );
  fc.assert(
    fc.property(types, fc.oneof(fc.domain(), fc.string()), data, (type, sub, text) => {
      const read = readDnsRecord({ type, sub, data: text }, DOMAIN);
      expect('record' in read ? readDnsRecord(read.record, DOMAIN) : read).toEqual(read);
    }),
  );
});

test('gives the reason why two records of a name exclude each other', () => {
  const cname = 'A CNAME cannot be next to another record';
  const alias = 'An ALIAS cannot be next to an address or another ALIAS';
  const reasons = [
    ['A', 'A', undefined],
    ['A', 'AAAA', undefined],
    ['CNAME', 'TXT', cname],
    ['ALIAS', 'CNAME', cname],
    ['CNAME', 'CNAME', cname],
    ['ALIAS', 'A', alias],
    ['ALIAS', 'AAAA', alias],
    ['ALIAS', 'ALIAS', alias],
    ['ALIAS', 'MX', undefined],
    ['ALIAS', 'HTTPS', undefined],
    ['DNAME', 'DNAME', 'A DNAME cannot be next to another DNAME'],
    ['DNAME', 'A', undefined],
  ] as const;
  for (const [one, other, reason] of reasons) expect([conflictOf(one, other), conflictOf(other, one)]).toEqual([reason, reason]);
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
  ['CAA', '0 issue ca.example', '0 issue "ca.example"'],
  ['CAA', '0 issue ;', '0 issue ";"'],
  ['CAA', String.raw`0 issue "a\"b\\c"`, String.raw`0 issue "a\"b\\c"`],
  ['TXT', 'v=spf1 -all', 'v=spf1 -all'],
  ['TXT', '"v=spf1 -all"', 'v=spf1 -all'],
  ['TXT', ' "v=DKIM1; " "k=rsa" ', 'v=DKIM1; k=rsa'],
  ['TXT', String.raw`"say \"hello\"; \\ \; \195\188"`, String.raw`say "hello"; \ ; ü`],
  ['TXT', String.raw`say "hello"; \ \; \195`, String.raw`say "hello"; \ \; \195`],
  ['TXT', '"open', '"open'],
  ['TXT', '"a" b', '"a" b'],
  ['TXT', '""', '""'],
  ['TXT', String.raw`"\"a\""`, String.raw`"\"a\""`],
  ['ALIAS', 'Web1.Example.net.', 'web1.example.net'],
  ['DNAME', 'example.org.', 'example.org'],
  ['TLSA', `0 0 0 0F`, '0 0 0 0f'],
  ['TLSA', `3 1 1 ${'0F'.repeat(16)} ${'0F'.repeat(16)}`, `3 1 1 ${'0f'.repeat(32)}`],
  ['TLSA', `2 0 2 ${'ab'.repeat(64)}`, `2 0 2 ${'ab'.repeat(64)}`],
  ['SSHFP', `6 1 ${'AB'.repeat(20)}`, `6 1 ${'ab'.repeat(20)}`],
  ['SSHFP', ` 1  2 ${'ab'.repeat(32)} `, `1 2 ${'ab'.repeat(32)}`],
  ['NAPTR', '100 10 "S" "SIP+D2U" "" _sip._udp.Example.net.', '100 10 "S" "SIP+D2U" "" _sip._udp.example.net'],
  ['NAPTR', '0 65535 u E2U+sip "!^.* (a|b)$!sip:info@example.net!i" .', '0 65535 "u" "E2U+sip" "!^.* (a|b)$!sip:info@example.net!i" .'],
  ['NAPTR', String.raw`1 2 "u" "" "!\\!(.*)!\\1!" .`, String.raw`1 2 "u" "" "!\\!(.*)!\\1!" .`],
  ['NAPTR', '1 2 "" "" "" .', '1 2 "" "" "" .'],
  ['SVCB', '0 svc.example.net.', '0 svc.example.net'],
  ['SVCB', '65535 _a.example.net', '65535 _a.example.net'],
  ['HTTPS', '1 .', '1 .'],
  ['HTTPS', '1 . port=443 alpn=h2,h3', '1 . alpn="h2,h3" port=443'],
  ['HTTPS', '1 . ipv6hint="2001:DB8:0::1,::" ipv4hint=198.51.100.1', '1 . ipv4hint=198.51.100.1 ipv6hint=2001:db8::1,::'],
  [
    'HTTPS',
    '1 . no-default-alpn mandatory=port,alpn alpn="http/1.1" port=0',
    '1 . mandatory=alpn,port alpn="http/1.1" no-default-alpn port=0',
  ],
  ['HTTPS', '1 . ech=AEX+DQ== dohpath=/q{?dns} key65534=x key9=y', '1 . ech=AEX+DQ== dohpath="/q{?dns}" key9="y" key65534="x"'],
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
  ['CAA', '0 issue', 'caa'],
  ['CAA', '0 issue "a', 'caa'],
  ['TXT', String.raw`"\256"`, 'format'],
  ['TXT', String.raw`"\25"`, 'format'],
  ['TXT', String.raw`"\000"`, 'format'],
  ['TXT', String.raw`"\195"`, 'format'],
  ['ALIAS', 'a', 'hostname'],
  ['DNAME', '198.51.100.23', 'hostname'],
  ['TLSA', `4 1 1 ${'0f'.repeat(32)}`, 'format'],
  ['TLSA', `3 2 1 ${'0f'.repeat(32)}`, 'format'],
  ['TLSA', `3 1 3 ${'0f'.repeat(32)}`, 'format'],
  ['TLSA', `3 1 1 ${'0f'.repeat(31)}`, 'format'],
  ['TLSA', `3 1 1 ${'0f'.repeat(33)}`, 'format'],
  ['TLSA', `3 1 2 ${'0f'.repeat(32)}`, 'format'],
  ['TLSA', '3 1 0 0', 'format'],
  ['TLSA', '3 1 0', 'format'],
  ['TLSA', '3 1 0 xy', 'format'],
  ['SSHFP', `5 1 ${'ab'.repeat(20)}`, 'format'],
  ['SSHFP', `0 1 ${'ab'.repeat(20)}`, 'format'],
  ['SSHFP', `4 3 ${'ab'.repeat(20)}`, 'format'],
  ['SSHFP', `4 2 ${'ab'.repeat(20)}`, 'format'],
  ['SSHFP', `4 1 ${'ab'.repeat(32)}`, 'format'],
  ['NAPTR', '100 10 "S" "SIP+D2U" "" ', 'format'],
  ['NAPTR', '100 65536 "S" "SIP+D2U" "" a.b', 'format'],
  ['NAPTR', '100 10 "-" "SIP+D2U" "" a.b', 'format'],
  ['NAPTR', '100 10 "U" "E2U+sip" "!a!b!" a.b', 'format'],
  ['NAPTR', '100 10 "U" "E2U+sip" "!a!b" .', 'format'],
  ['NAPTR', '100 10 "U" "E2U+sip" "1a1b1" .', 'format'],
  ['NAPTR', '100 10 "U" "E2U+sip" "!a!b!g" .', 'format'],
  ['NAPTR', '100 10 "U" "E2U+sip" "!!b!" .', 'format'],
  ['NAPTR', `100 10 "U" "${'a'.repeat(256)}" "" .`, 'format'],
  ['NAPTR', '100 10 "U" "a "" .', 'format'],
  ['SVCB', '0 svc.example.net port=1', 'format'],
  ['SVCB', '65536 .', 'format'],
  ['SVCB', '1', 'format'],
  ['HTTPS', '1 198.51.100.1', 'format'],
  ['HTTPS', '1 . alpn', 'format'],
  ['HTTPS', '1 . alpn=""', 'format'],
  ['HTTPS', '1 . alpn=h2,', 'format'],
  ['HTTPS', '1 . alpn="h2', 'format'],
  ['HTTPS', '1 . alpn=h2 alpn=h3', 'format'],
  ['HTTPS', '1 . no-default-alpn', 'format'],
  ['HTTPS', '1 . no-default-alpn=1 alpn=h2', 'format'],
  ['HTTPS', '1 . port=65536', 'format'],
  ['HTTPS', '1 . port=01', 'format'],
  ['HTTPS', '1 . ipv4hint=2001:db8::1', 'format'],
  ['HTTPS', '1 . ipv4hint=198.51.100.1,', 'format'],
  ['HTTPS', '1 . ipv6hint=2001:db8::/32', 'format'],
  ['HTTPS', '1 . mandatory=alpn', 'format'],
  ['HTTPS', '1 . mandatory=mandatory,alpn alpn=h2', 'format'],
  ['HTTPS', '1 . mandatory=alpn,alpn alpn=h2', 'format'],
  ['HTTPS', '1 . ech=%', 'format'],
  ['HTTPS', '1 . dohpath=q{?dns}', 'format'],
  ['HTTPS', '1 . dohpath=/q', 'format'],
  ['HTTPS', '1 . key1=h2', 'format'],
  ['HTTPS', '1 . key8', 'format'],
  ['HTTPS', '1 . key65001', 'format'],
  ['HTTPS', '1 . alpn=h2 key9', 'format'],
  ['SVCB', '1 . ohttp', 'format'],
  ['HTTPS', '1 . key65535=x', 'format'],
  ['HTTPS', '1 . ALPN=h2', 'format'],
  ['HTTPS', '1 . __proto__=h2', 'format'],
])("refuses the data of a %s record '%s' by the rule %s", (type, data, rule) => {
  expect(readDnsRecord({ type, sub: 'www', data }, DOMAIN)).toEqual({
    broken: [{ field: 'data', rule, message: expect.stringMatching(/^must be .+, such as .+$/) }],
  });
});

test.each(['A!', '!A', 'A A', '', 'a1'])("refuses the record type '%s', and lists the valid types", (type) => {
  expect(readDnsRecord({ type, sub: 'www', data: '198.51.100.23' }, DOMAIN)).toEqual({
    broken: [
      {
        field: 'type',
        rule: 'exists',
        message: 'must be one of A, AAAA, CAA, CNAME, MX, NS, SRV, TXT, ALIAS, DNAME, HTTPS, NAPTR, SSHFP, SVCB, TLSA',
      },
    ],
  });
});

test('refuses an ALIAS of its own name, and a DNAME of its own name or of one below it', () => {
  const brokenBy = (type: string, sub: string, data: string) => Object(readDnsRecord({ type, sub, data }, DOMAIN)).broken;
  expect(brokenBy('ALIAS', '', DOMAIN)).toMatchObject([{ rule: 'distinct' }]);
  expect(brokenBy('ALIAS', '', `www.${DOMAIN}`)).toBeUndefined();
  expect(brokenBy('DNAME', 'a', `b.a.${DOMAIN}`)).toMatchObject([
    { rule: 'distinct', message: 'must be another name than the one that the record is for, and not below it' },
  ]);
  expect(brokenBy('DNAME', '', `a.${DOMAIN}`)).toMatchObject([{ rule: 'distinct' }]);
  expect(brokenBy('DNAME', 'a', `ba.${DOMAIN}`)).toBeUndefined();
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
