/** Creates keys, codes and passwords, and their stored hashes. */
import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

import type { Mode } from './mode.ts';
import { randomText } from './random.ts';
import type { Random } from './random.ts';

/** The secret of the service, and a second one that the service accepts during a rotation. */
export interface Secrets {
  readonly secret: string;
  readonly previousSecret?: string | undefined;
}

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Without characters that look alike. */
const PASSWORD_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

/** The API key of the demo account. Instances that share a store derive the same key from their secret, so that none has to store it. */
export function demoApiKeyFrom(secret: string): string {
  const bytes = new Uint8Array(hkdfSync('sha256', secret, '', 'reseller-service/demo-api-key/v1', 4_096));
  let used = 0;
  // Without a checksum, so that an update of the service does not change it.
  return `rsk_sandbox_${randomText({ bytes: (count) => bytes.slice(used, (used += count)) }, LETTERS_AND_DIGITS, SECRET_LENGTH)}`;
}

/** Random characters of a key or token: more than 256 bits. */
const SECRET_LENGTH = 44;
const CHECKSUM_LENGTH = 6;
const BASE_62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A new API key: a prefix with the mode, random characters and a checksum. */
export function newApiKey(random: Random, mode: Mode): string {
  return withChecksum(random, `rsk_${mode}_`);
}

function withChecksum(random: Random, prefix: string): string {
  const text = prefix + randomText(random, LETTERS_AND_DIGITS, SECRET_LENGTH);
  return text + checksumOf(text);
}

/** The CRC-32 of a text in base 62. Secret scanners check it to tell keys and tokens from other texts. */
function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < CHECKSUM_LENGTH; index++) {
    digits = BASE_62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

const CHECKED_KEY = /^rsk_(?:sandbox|live)_[A-Za-z0-9]{50}$/;

/** Whether a key has the form of keys with a checksum, and a wrong one: it was mistyped or cut. Older keys have no checksum. */
export function isMistypedKey(key: string): boolean {
  return CHECKED_KEY.test(key) && checksumOf(key.slice(0, -CHECKSUM_LENGTH)) !== key.slice(-CHECKSUM_LENGTH);
}

/** Whether a service of the other mode issues keys of this form. */
export function isKeyOfOtherMode(key: string, mode: Mode): boolean {
  return key.startsWith(mode === 'live' ? 'rsk_sandbox_' : 'rsk_live_');
}

/** A new token of a verifier, a third party that verifies one-time codes. */
export function newVerifierToken(random: Random): string {
  return withChecksum(random, 'rsv_');
}

/** A new one-time code with which a browser signs in to the console of a sandbox. */
export function newSignInCode(random: Random): string {
  return withChecksum(random, 'rsc_');
}

/** A new secret of a link to the console of a VM. */
export function newConsoleSecret(random: Random): string {
  return withChecksum(random, 'rsw_');
}

/** Masks keys and tokens of this service in a text. */
export function maskKeys(text: string): string {
  return text.replaceAll(/rs(?:k_(?:sandbox|live)|[vocw])_[A-Za-z0-9]+/g, '***');
}

/** A new token of the provider's team. */
export function newOperatorToken(random: Random): string {
  return withChecksum(random, 'rso_');
}

/** The stored hash of an API key. A plain hash suffices, because the key is random and too long to guess. */
export function hashOfApiKey(key: string): string {
  return sha256(key);
}

/** SHA-256, hexadecimal. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

/** A new password for a VM. */
export function newPassword(random: Random): string {
  return randomText(random, PASSWORD_ALPHABET, 20);
}

/** A new auth code. Another provider can take over the domain with it. */
export function newAuthcode(random: Random): string {
  return randomText(random, PASSWORD_ALPHABET, 16);
}

/** A one-time code (specification: "Account"): eight digits. */
export function newOtp(random: Random): string {
  return randomText(random, '0123456789', 8);
}

/**
 * The stored hash of a one-time code. Eight digits could be guessed from a plain hash, so this one needs the secret, which is not in the
 * store. It does not include the account, because a verifier does not know it.
 */
export function hashOfOtp(code: string, secret: string): string {
  return createHmac('sha256', secret).update(`otp:${code}`).digest('hex');
}

/** The stored hash of the secret, which detects an instance with another secret. The secret is random and too long to guess. */
export function verifierOfSecret(secret: string): string {
  return createHmac('sha256', secret).update('verifier').digest('hex');
}

/** The hashes that a one-time code may have while the secret is rotated. */
export function hashesOfOtp(code: string, secrets: Secrets): string[] {
  return acceptedSecrets(secrets).map((secret) => hashOfOtp(code, secret));
}

/** Both secrets, the one for new values first. */
export function acceptedSecrets({ secret, previousSecret }: Secrets): string[] {
  return previousSecret === undefined ? [secret] : [secret, previousSecret];
}

/** Identifies the secret with which a value is sealed. It reveals nothing about that secret. */
export function keyIdOf(secret: string): string {
  return createHmac('sha256', secret).update('key-id').digest('hex').slice(0, 16);
}

/** Whether two hashes of the same kind are equal, in constant time. */
export function sameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const SALT_BYTES = 16;
const NONCE_BYTES = 12;

/** Encrypts a text with the secret. Decryption needs the same `context`. The result begins with the identifier of the secret. */
export function seal(text: string, secret: string, context: string, random: Random): string {
  const [salt, nonce] = [random.bytes(SALT_BYTES), random.bytes(NONCE_BYTES)];
  const cipher = createCipheriv('aes-256-gcm', sealingKey(secret, salt), nonce).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `${keyIdOf(secret)}.${Buffer.concat([salt, nonce, cipher.getAuthTag(), sealed]).toString('base64')}`;
}

/** Decrypts the result of `seal`. Undefined if it was sealed with another secret or context. */
export function unseal(sealed: string, secrets: Secrets, context: string): string | undefined {
  const [keyId, text = ''] = sealed.split('.');
  const secret = acceptedSecrets(secrets).find((accepted) => keyIdOf(accepted) === keyId);
  if (secret === undefined) return undefined;
  const bytes = Buffer.from(text, 'base64');
  const [salt, nonce, tag, body] = [bytes.subarray(0, 16), bytes.subarray(16, 28), bytes.subarray(28, 44), bytes.subarray(44)];
  try {
    const decipher = createDecipheriv('aes-256-gcm', sealingKey(secret, salt), nonce, { authTagLength: 16 });
    decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/** The context of the stored response to a request with an Idempotency-Key. */
export function responseContext(accountId: string, keyHash: string): string {
  return `${accountId}/${keyHash}`;
}

function sealingKey(secret: string, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, 'reseller-service/seal/v1', 32));
}
