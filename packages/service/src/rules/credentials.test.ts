import { createHash, randomBytes } from 'node:crypto';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import {
  acceptedSecrets,
  demoApiKeyFrom,
  hashesOfOtp,
  hashOfApiKey,
  hashOfOtp,
  isKeyOfOtherMode,
  keyIdOf,
  maskKeys,
  newApiKey,
  newAuthcode,
  newOperatorToken,
  newOtp,
  newPassword,
  newVerifierToken,
  sameHash,
  seal,
  unseal,
  verifierOfSecret,
} from './credentials.ts';

const random = { bytes: (count: number) => new Uint8Array(randomBytes(count)) };
const SECRET = 's'.repeat(32);
const OTHER = 'o'.repeat(32);
/** The text 'a password', sealed with the secret for the context vm/1. */
const SEALED = 'a8f1fb2e37f9f9ee.BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBzc8Z4SikyLIN3gpc8h1i2hdoMOdciMtN6gi';

test.each([
  ['API key of the sandbox', () => newApiKey(random, 'sandbox'), /^rsk_sandbox_[A-Za-z0-9]{50}$/],
  ['API key of a live service', () => newApiKey(random, 'live'), /^rsk_live_[A-Za-z0-9]{50}$/],
  ['token of a verifier', () => newVerifierToken(random), /^rsv_[A-Za-z0-9]{50}$/],
  ['operator token', () => newOperatorToken(random), /^rso_[A-Za-z0-9]{50}$/],
  ['password without characters that look alike', () => newPassword(random), /^[A-HJ-NP-Za-km-z2-9]{20}$/],
  ['auth code', () => newAuthcode(random), /^[A-HJ-NP-Za-km-z2-9]{16}$/],
  ['one-time code', () => newOtp(random), /^\d{8}$/],
])('creates each %s in its form, and no two are equal', (_, create, form) => {
  const [one, other] = [create(), create()];
  expect(one).toMatch(form);
  expect(one).not.toBe(other);
});

test('uses every character of the alphabets of keys and codes', () => {
  const drawnBy = (create: () => string) =>
    new Set(
      Array.from({ length: 400 }, create)
        .join('')
        .replaceAll(/^rs._|rso_/g, ''),
    ).size;
  expect(drawnBy(() => newOperatorToken(random))).toBe(62);
  expect(drawnBy(() => newPassword(random))).toBe(57);
  expect(drawnBy(() => newOtp(random))).toBe(10);
});

test('gives instances with the same secret the same demo key, and others a different one', () => {
  expect(demoApiKeyFrom(SECRET)).toMatch(/^rsk_sandbox_[A-Za-z0-9]{44}$/);
  expect(demoApiKeyFrom(SECRET)).toBe(demoApiKeyFrom(SECRET));
  expect(demoApiKeyFrom(SECRET)).not.toBe(demoApiKeyFrom(OTHER));
  // The characters differ. A stream that repeated its first bytes would repeat one character.
  expect(new Set(demoApiKeyFrom(SECRET).slice('rsk_sandbox_'.length)).size).toBeGreaterThan(10);
});

test('recognises keys of the other mode', () => {
  const [sandbox, live] = [newApiKey(random, 'sandbox'), newApiKey(random, 'live')];
  expect([isKeyOfOtherMode(sandbox, 'live'), isKeyOfOtherMode(live, 'sandbox')]).toEqual([true, true]);
  expect([isKeyOfOtherMode(sandbox, 'sandbox'), isKeyOfOtherMode(live, 'live')]).toEqual([false, false]);
  expect([isKeyOfOtherMode(`x${sandbox}`, 'live'), isKeyOfOtherMode('', 'live'), isKeyOfOtherMode('', 'sandbox')]).toEqual([
    false,
    false,
    false,
  ]);
});

test('masks each kind of key and token in a text, and nothing else', () => {
  const keys = [newApiKey(random, 'sandbox'), newApiKey(random, 'live'), newVerifierToken(random), newOperatorToken(random)];
  expect(maskKeys(`a ${keys.join(', ')} b`)).toBe('a ***, ***, ***, *** b');
  expect(maskKeys('rsk_, rsk_test_abc, rsx_abc, rsv_')).toBe('rsk_, rsk_test_abc, rsx_abc, rsv_');
});

test('hashes an API key with SHA-256', () => {
  expect(hashOfApiKey('a key')).toBe(createHash('sha256').update('a key').digest('hex'));
});

test('returns different hashes for each purpose, value and secret', () => {
  const hashes = [
    hashOfOtp('12345678', SECRET),
    hashOfOtp('12345679', SECRET),
    hashOfOtp('12345678', OTHER),
    verifierOfSecret(SECRET),
    verifierOfSecret(OTHER),
  ];
  expect(new Set(hashes).size).toBe(hashes.length);
  for (const one of hashes) expect(one).toMatch(/^[\da-f]{64}$/);
  const ids = [keyIdOf(SECRET), keyIdOf(OTHER)];
  for (const id of ids) expect(id).toMatch(/^[\da-f]{16}$/);
  expect(ids[0]).not.toBe(ids[1]);
  for (const id of ids) expect(hashes.map((one) => one.slice(0, 16))).not.toContain(id);
});

test('accepts values of earlier versions: stored hashes, sealed texts and the demo key', () => {
  expect(hashOfOtp('12345678', SECRET)).toBe('97ed315a29945bf10298d67ce094cc8a00ca8edee3916c73ed179acb03f20ce6');
  expect(verifierOfSecret(SECRET)).toBe('cf7dbd7c3b003749e21337fc42e8bf327dc0a6315372e77b6b3d3049ca03d289');
  expect(keyIdOf(SECRET)).toBe('a8f1fb2e37f9f9ee');
  expect(demoApiKeyFrom(SECRET)).toBe('rsk_sandbox_xHjmaBLPAULmsn4SxN3alULVyKi0Jnprli1Bp7iNd75F');
  expect(unseal(SEALED, { secret: SECRET }, 'vm/1')).toBe('a password');
});

test('accepts both secrets during a rotation, and seals new values with the first one', () => {
  expect(acceptedSecrets({ secret: SECRET })).toEqual([SECRET]);
  expect(acceptedSecrets({ secret: SECRET, previousSecret: undefined })).toEqual([SECRET]);
  expect(acceptedSecrets({ secret: SECRET, previousSecret: OTHER })).toEqual([SECRET, OTHER]);
  expect(hashesOfOtp('12345678', { secret: SECRET, previousSecret: OTHER })).toEqual([
    hashOfOtp('12345678', SECRET),
    hashOfOtp('12345678', OTHER),
  ]);
});

test('compares hashes in full', () => {
  expect(sameHash('abc', 'abc')).toBe(true);
  for (const other of ['abd', 'ab', 'abcd', '', 'ABC', 'äbc']) expect(sameHash('abc', other)).toBe(false);
  expect(sameHash('', '')).toBe(true);
});

test('opens a sealed text only with its secret and its context, even after a rotation', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
      const sealed = seal(text, SECRET, context, random);
      expect(unseal(sealed, { secret: SECRET }, context)).toBe(text);
      expect(unseal(sealed, { secret: OTHER, previousSecret: SECRET }, context)).toBe(text);
      expect(unseal(sealed, { secret: OTHER }, context)).toBeUndefined();
      expect(unseal(sealed, { secret: SECRET }, `${context}x`)).toBeUndefined();
    }),
    { numRuns: 50 },
  );
});

test('seals a text with the identifier of the secret, and with a different result each time', () => {
  const sealed = seal('a password', SECRET, 'vm/1', random);
  expect(sealed).toMatch(new RegExp(String.raw`^${keyIdOf(SECRET)}\.[A-Za-z0-9+/]+={0,2}$`));
  expect(Buffer.from(sealed.split('.')[1] ?? '', 'base64').length).toBe(16 + 12 + 16 + 'a password'.length);
  expect(seal('a password', SECRET, 'vm/1', random)).not.toBe(sealed);
});

test('does not open a sealed text with any changed byte', () => {
  const sealed = seal('text', SECRET, 'context', random);
  const [keyId, base64 = ''] = sealed.split('.');
  const bytes = Buffer.from(base64, 'base64');
  for (const index of bytes.keys()) {
    const changed = Buffer.from(bytes);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(unseal(`${keyId}.${changed.toString('base64')}`, { secret: SECRET }, 'context')).toBeUndefined();
  }
  for (const short of [0, 15, 16, 28, 43])
    expect(unseal(`${keyId}.${bytes.subarray(0, short).toString('base64')}`, { secret: SECRET }, 'context')).toBeUndefined();
  for (const text of ['', '.', keyId ?? '', `${keyId}.`, `x${sealed}`]) expect(unseal(text, { secret: SECRET }, 'context')).toBeUndefined();
});
