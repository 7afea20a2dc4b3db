import { generateKeyPairSync } from 'node:crypto';

import { expect, test } from 'vitest';

import { publicKeyOf } from './ssh-key.ts';

/** Written by ssh-keygen of OpenSSH 9.2, except the last two, which have the fields that OpenSSH describes in PROTOCOL.u2f. */
const KEYS = [
  'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBPje3Vn2H92esSk+yW41jnxnwgLvm5B6A/CffkMeJoXqfBgsaWCH3RwfLuY/OJqe+FMNEYfrOfSsyhiUMi+s+6k= root@vm',
  'ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBAm2gSTmwRItQA8YBtWX2oUvIJai0V2Xosyso02/7/yYsQBOgvgCO7VmjEzhHdPDQpKPs1gl+iqp1t2wm+3xHAeD7rrzPtMcyMtE9Vm3QFYEn/RpFlMXnSWsJjev0qtfSw== root@vm',
  'ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAC4yKMX2aAH10hEhxmqA5S/9uNiCCcGdD30v1umPPjkqeOTQyz9OGFcWFlQdIF2QftId+MajrEokdXdmJX6JUIhKQEF0tl+t3w8eEMJZv5c/yHHLDafkMDd04wIhpaHhjzrBNY39VRG7F3mdEzYBw6qGSQ+cH49/fAR5SGUIbdj7j+ImA== root@vm',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKaaMCw3aUD1cvh8ZK64B4hxO+e8hg00vDlYAFFX8hJS me@host',
  'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCv1rEaetmzocDyy7wN/trcJb/jvXzA4EVmJzFmT+2Ifyzf94Yn/ieFSMDjX5ihUUm3hXQ0nzozg8WteQ27p5x488CcIMNnuTTyoh376Bm6JQOHgYMX0rZBTtZws1xOg6gz5O94qqp1FXaLUMKiQ1P5hOqG+pO7GhHTt5nxI0IjqKRGXKgr+bYndmgIN0cwiBnx6S86vBU3gwyR3nGdSi6mmKojipnwcig1UgLzZ5Flyp65yB8mo70vQiaITJyOnXVkVHJriAUCmWklRx6/FbrhvLQ1E7bZRsDaMSqETGtOeryL0oMGn2cfNwShQyiEuE4h4KZQJ45E3V9QEWEn1S/B',
  'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIKaaMCw3aUD1cvh8ZK64B4hxO+e8hg00vDlYAFFX8hJSAAAABHNzaDo= security key',
  'sk-ecdsa-sha2-nistp256@openssh.com AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTZAb3BlbnNzaC5jb20AAAAIbmlzdHAyNTYAAABBBPje3Vn2H92esSk+yW41jnxnwgLvm5B6A/CffkMeJoXqfBgsaWCH3RwfLuY/OJqe+FMNEYfrOfSsyhiUMi+s+6kAAAAEc3NoOg==',
];

test.each(KEYS)('reads %s, URL-encoded or not', (key) => {
  expect(publicKeyOf(key)).toBe(key);
  expect(publicKeyOf(encodeURIComponent(key))).toBe(key);
  expect(publicKeyOf(encodeURI(key))).toBe(key);
  // As PHP's urlencode and HTML forms write it, with a plus for a space.
  expect(publicKeyOf(new URLSearchParams({ key }).toString().slice('key='.length))).toBe(key);
  expect(publicKeyOf(`${key}\r\n`)).toBe(key);
});

test('accepts any text without a line break as a comment, encoded or not', () => {
  const key = newKey();
  expect(publicKeyOf(`${key} 50 % key`)).toMatch(/ 50 % key$/);
  expect(publicKeyOf(encodeURIComponent(`${key} für alle`))).toMatch(/ für alle$/);
  expect(publicKeyOf(`${key.replace(' ', '%20')}%20%FF`)).toMatch(/ \uFFFD$/);
  expect(publicKeyOf(`${key.replace(' ', '%20')}%20name%0Assh-ed25519%20AAAA`)).toBeUndefined();
});

test('refuses a private key', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  expect(publicKeyOf(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())).toBeUndefined();
});

test.each(KEYS)('refuses %s with a changed length, type or point', (key) => {
  const [type = '', body = ''] = key.split(' ');
  const bytes = Buffer.from(body, 'base64');
  const sent = (changed: Buffer) => `${type} ${changed.toString('base64')}`;
  expect(publicKeyOf(sent(bytes))).toBe(sent(bytes));
  expect(publicKeyOf(sent(bytes.subarray(0, -1)))).toBeUndefined();
  expect(publicKeyOf(sent(Buffer.concat([bytes, Buffer.from([0])])))).toBeUndefined();
  expect(publicKeyOf(sent(Buffer.concat([bytes, Buffer.alloc(4)])))).toBeUndefined();
  expect(publicKeyOf(`ssh-dss ${body}`)).toBeUndefined();
  // The last byte before the application of a security key belongs to a coordinate. Every value of an RSA or Ed25519 key is one.
  if (!type.includes('ecdsa')) return;
  const point = Buffer.from(bytes);
  const last = type.startsWith('sk-') ? bytes.length - 9 : bytes.length - 1;
  point[last] = (point[last] ?? 0) ^ 1;
  expect(publicKeyOf(sent(point))).toBeUndefined();
});

test('refuses an RSA key of less than 1,024 bits', () => {
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
  const rsa = (modulus: Buffer) => {
    const fields = [Buffer.from('ssh-rsa'), Buffer.from([1, 0, 1]), modulus].map((one) => field(one));
    return `ssh-rsa ${Buffer.concat(fields).toString('base64')}`;
  };
  expect(publicKeyOf(rsa(Buffer.alloc(128, 0xff)))).toBeDefined();
  expect(publicKeyOf(rsa(Buffer.alloc(127, 0xff)))).toBeUndefined();
});

test.each(['', 'ssh-ed25519', 'ssh-ed25519 AAAA', 'ssh-ed25519 !!!!', '%', 'ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAI\nssh-rsa A'])(
  "refuses '%s'",
  (text) => {
    expect(publicKeyOf(text)).toBeUndefined();
  },
);

test('reads a key without a comment or with an empty one', () => {
  const key = newKey();
  expect(publicKeyOf(key)).toBe(key);
  expect(publicKeyOf(`${key} `)).toBe(key);
});

test('keeps a plus in an unencoded key', () => {
  for (;;) {
    const key = newKey();
    const body = key.split(' ')[1] ?? '';
    if (!body.includes('+')) continue;
    expect(publicKeyOf(key)).toContain(body);
    expect(publicKeyOf(encodeURIComponent(key))).toContain(body);
    return;
  }
});

test('refuses text before the key type', () => {
  const key = newKey();
  for (const text of [`! ${key}`, `!%20${key}`, `no-pty,${key}`]) expect(publicKeyOf(text)).toBeUndefined();
});

/** A random Ed25519 key without a comment. */
function newKey(): string {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const prefix = Buffer.from('AAAAC3NzaC1lZDI1NTE5AAAAI', 'base64').subarray(0, 18);
  return `ssh-ed25519 ${Buffer.concat([prefix, Buffer.from([32]), Buffer.from(x, 'base64url')]).toString('base64')}`;
}
