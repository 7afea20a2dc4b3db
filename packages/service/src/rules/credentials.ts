/** Keys, codes and passwords: how they are made, and what is kept of them. */
import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, timingSafeEqual } from 'node:crypto';

import { randomText } from './random.ts';
import type { Random } from './random.ts';

export type Mode = 'sandbox' | 'live';

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Without characters that are mistaken for one another. */
const PASSWORD_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

/**
 * The API key of a sandbox's demo account where several nodes share the store: each of them makes
 * the same one out of the service's secret, so that none of them has to keep it.
 */
export function demoApiKeyFrom(secret: string): string {
  const drawn = new Uint8Array(hkdfSync('sha256', secret, '', 'reseller-service/demo-api-key/v1', 4_096));
  let used = 0;
  return newApiKey({ bytes: (count) => drawn.slice(used, (used += count)) }, 'sandbox');
}

/** A new API key: 256 bits and more of randomness behind a prefix that tells sandbox from live. */
export function newApiKey(random: Random, mode: Mode): string {
  return `rsk_${mode}_${randomText(random, LETTERS_AND_DIGITS, 44)}`;
}

/** The other kind of service has issued a key of this form. */
export function isKeyOfOtherMode(key: string, mode: Mode): boolean {
  return key.startsWith(mode === 'live' ? 'rsk_sandbox_' : 'rsk_live_');
}

/** A new token of a third party that verifies one-time codes. */
export function newVerifierToken(random: Random): string {
  return `rsv_${randomText(random, LETTERS_AND_DIGITS, 44)}`;
}

/** What is stored of an API key. A plain hash is enough: the key is random, there is nothing to guess from. */
export function hashOfApiKey(key: string): string {
  return sha256(key);
}

/** SHA-256, hexadecimal. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

/** The initial password of a VM. */
export function newPassword(random: Random): string {
  return randomText(random, PASSWORD_ALPHABET, 20);
}

/** The code that another provider can transfer a domain away with. */
export function newAuthcode(random: Random): string {
  return randomText(random, PASSWORD_ALPHABET, 16);
}

/** A one-time code (specification: "Account"): eight digits. */
export function newOtp(random: Random): string {
  return randomText(random, '0123456789', 8);
}

/**
 * What is stored of a one-time code. So few digits would be guessed from a plain hash; this one
 * takes the service's secret, which is not in the store. Whoever verifies a code does not know
 * whose it is, so the account is no part of it.
 */
export function hashOfOtp(code: string, secret: string): string {
  return createHmac('sha256', secret).update(`otp:${code}`).digest('hex');
}

/** What is stored of the service's secret, so that a node with another one is found out. The secret is random: there is nothing to guess from. */
export function verifierOfSecret(secret: string): string {
  return createHmac('sha256', secret).update('verifier').digest('hex');
}

/** Whether two hashes of the same kind are equal, in a time that does not tell where they differ. */
export function sameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Encrypts a text for whoever knows the secret; `context` is bound to it and must be the same to read it. */
export function seal(text: string, secret: string, context: string, random: Random): string {
  const salt = random.bytes(16);
  const nonce = random.bytes(12);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(secret, salt), nonce).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([salt, nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

/** Reads what `seal` wrote; undefined when the secret or the context is another one. */
export function unseal(sealed: string, secret: string, context: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  const [salt, nonce, tag, body] = [bytes.subarray(0, 16), bytes.subarray(16, 28), bytes.subarray(28, 44), bytes.subarray(44)];
  try {
    const decipher = createDecipheriv('aes-256-gcm', sealingKey(secret, salt), nonce, { authTagLength: 16 });
    decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

function sealingKey(secret: string, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, 'reseller-service/seal/v1', 32));
}
