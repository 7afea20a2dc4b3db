/** The only source of random numbers in the service. */
export interface Random {
  /** Returns unpredictable bytes. */
  bytes(count: number): Uint8Array;
}

/**
 * Draws an integer of at least 0 and below `limit`, with equal probability.
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

/** Draws a text of characters of an alphabet, with equal probability. */
export function randomText(random: Random, alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet.charAt(randomInteger(random, alphabet.length))).join('');
}
