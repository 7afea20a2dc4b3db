import { generateKeyPairSync } from 'node:crypto';

import { parseKey } from 'sshpk';
import { expect, test } from 'vitest';

import { publicKeyOf } from './ssh-key.ts';

const pem = (type: 'ed25519' | 'rsa') => {
  const { publicKey, privateKey } = type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ed25519');
  return {
    public: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    private: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
};

test.each(['ed25519', 'rsa'] as const)('reads an %s key, URL-encoded or not', (type) => {
  const key = parseKey(pem(type).public, 'pem').toString('ssh').trim();
  expect(publicKeyOf(key)).toContain(key.split(' ')[1]);
  expect(publicKeyOf(encodeURIComponent(key))).toBe(publicKeyOf(key));
  expect(publicKeyOf(encodeURI(key))).toBe(publicKeyOf(key));
  // As PHP's urlencode and HTML forms write it, with a plus for a space.
  expect(publicKeyOf(new URLSearchParams({ key }).toString().slice('key='.length))).toBe(publicKeyOf(key));
  expect(publicKeyOf(`${key}\r\n`)).toBe(publicKeyOf(key));
});

test('accepts any text without a line break as a comment, encoded or not', () => {
  const key = parseKey(pem('ed25519').public, 'pem').toString('ssh').trim().split(' ').slice(0, 2).join(' ');
  expect(publicKeyOf(`${key} 50 % key`)).toMatch(/ 50 % key$/);
  expect(publicKeyOf(encodeURIComponent(`${key} für alle`))).toMatch(/ für alle$/);
  expect(publicKeyOf(`${key.replace(' ', '%20')}%20%FF`)).toMatch(/ \uFFFD$/);
  expect(publicKeyOf(`${key.replace(' ', '%20')}%20name%0Assh-ed25519%20AAAA`)).toBeUndefined();
});

test('refuses a private key in any notation', () => {
  const key = pem('ed25519').private;
  expect(publicKeyOf(key)).toBeUndefined();
  expect(publicKeyOf(parseKey(key, 'pem').toString('ssh-private'))).toBeUndefined();
});

test.each(['', 'ssh-ed25519', 'ssh-ed25519 AAAA', 'ssh-ed25519 !!!!', '%', 'ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAI\nssh-rsa A'])(
  "refuses '%s'",
  (text) => {
    expect(publicKeyOf(text)).toBeUndefined();
  },
);

test('reads a key without a comment or with an empty one', () => {
  const [type, body] = parseKey(pem('ed25519').public, 'pem').toString('ssh').trim().split(' ');
  expect(publicKeyOf(`${type} ${body}`)).toContain(`${type} ${body}`);
  expect(publicKeyOf(`${type} ${body} `)).toBe(publicKeyOf(`${type} ${body}`));
});

test('keeps a plus in an unencoded key', () => {
  for (;;) {
    const key = parseKey(pem('ed25519').public, 'pem').toString('ssh').trim();
    const body = key.split(' ')[1] ?? '';
    if (!body.includes('+')) continue;
    expect(publicKeyOf(key)).toContain(body);
    expect(publicKeyOf(encodeURIComponent(key))).toContain(body);
    return;
  }
});

test('refuses text before the key type', () => {
  const key = parseKey(pem('ed25519').public, 'pem').toString('ssh').trim();
  for (const text of [`! ${key}`, `!%20${key}`, `no-pty,${key}`]) expect(publicKeyOf(text)).toBeUndefined();
});
