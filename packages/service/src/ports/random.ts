import { randomBytes } from 'node:crypto';

/** The service's only source of randomness. */
export interface Random {
  /** Bytes that cannot be foretold. */
  bytes(count: number): Uint8Array;
}

/** Bytes drawn from the operating system at once: drawing a few costs as much as drawing many. */
const DRAWN = 8_192;

/** The operating system's random numbers. */
export const systemRandom: Random = pooled((count) => randomBytes(count));

function pooled(draw: (count: number) => Uint8Array): Random {
  let pool: Uint8Array = new Uint8Array();
  return {
    bytes(count) {
      if (count > DRAWN) return draw(count);
      if (pool.length < count) pool = draw(DRAWN);
      // Copied and cut off, so that no two callers ever hold the same bytes.
      const bytes = pool.slice(0, count);
      pool = pool.subarray(count);
      return bytes;
    },
  };
}

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
