/** Texts that an attacker may send. */

/** Percent-encoded values that every field refuses. */
export const NEVER: readonly (readonly [string, string])[] = [
  ['a NUL byte', 'a%00b'],
  ['only a NUL byte', '%00'],
  ['a header', 'a%0D%0ASet-Cookie%3A+session%3D1'],
  ['a line feed', 'a%0Ab'],
  ['an escape', '%1B%5B2J'],
  ['a lone high surrogate', '%ED%A0%80'],
  ['a lone low surrogate', '%ED%BF%BF'],
  ['bytes that are not UTF-8', '%FF%FE'],
  ['an overlong encoding', '%C0%AF'],
  ['broken percent-encoding', '%zz'],
  ['30,000 characters', 'x'.repeat(30_000)],
];

/** Values that a field for free text may accept. An accepted value is stored as it was sent. */
export const PERHAPS: readonly string[] = [
  "'; DROP TABLE vms; --",
  "' OR '1'='1",
  '1 UNION SELECT hash FROM api_keys',
  '${jndi:ldap://x}',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '=cmd|calc',
  '__proto__',
  'constructor',
  'toString',
  '{"$gt":""}',
  '[]',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  '9'.repeat(19),
  '9'.repeat(60),
  '-9223372036854775808',
  '-1',
  '4294967297',
  '1e308',
  '0x7fffffff',
  '٤٨٢١٣',
  'ﬀ\u202Egnp',
  '\uFEFF',
  '💥',
  '%00',
  '%s%n%x',
];
