import { randomBytes } from 'node:crypto';

/** The service's only source of randomness. */
export interface Random {
  /** Bytes that cannot be foretold. */
  bytes(count: number): Uint8Array;
}

/** The operating system's random numbers. */
export const systemRandom: Random = { bytes: (count) => randomBytes(count) };

/**
 * An integer from 0 to below `limit`, each as likely as the others.
 *
 * @param limit From 1 to 2^32.
 */
export function randomInteger(random: Random, limit: number): number {
  const fair = Math.floor(2 ** 32 / limit) * limit;
  for (;;) {
    const bytes = random.bytes(4);
    const drawn = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
    if (drawn < fair) return drawn % limit;
  }
}

/** A text of characters drawn evenly from an alphabet. */
export function randomText(random: Random, alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet.charAt(randomInteger(random, alphabet.length))).join('');
}
