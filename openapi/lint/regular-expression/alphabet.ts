/** Characters beyond Latin-1 that classes such as `\s`, `.` and `[^a]` tell apart. */
const OTHERS = [0x130, 0x17f, 0x212a, 0x2028, 0x3000, 0xd800, 0xfffd, 0x1_f600];

/** The characters of a regular expression, with those that it cannot tell apart taken as one. */
export interface Alphabet {
  /** One character of each class. */
  readonly characters: readonly string[];
  /** The indexes in `characters` that the expression of one character matches. */
  lettersOf(source: string): ReadonlySet<number>;
}

/** @param sources the expressions of one character, such as `[a-z]` */
export function alphabetOf(sources: Iterable<string>, flags: string): Alphabet {
  const matchers = new Map([...new Set(sources)].map((source) => [source, new RegExp(`^(?:${source})$`, flags.replaceAll(/[gmy]/g, ''))]));
  const letters = new Map<string, string>();
  for (const character of candidates([...matchers.keys()])) {
    const matches = [...matchers.values()].map((matcher) => (matcher.test(character) ? 1 : 0)).join('');
    // Letters read better in a message than control characters do.
    if (!letters.has(matches) || /^[!-~]$/.test(character)) letters.set(matches, character);
  }
  const all = [...letters.values()];
  return {
    characters: all,
    lettersOf: (source) => new Set([...all.keys()].filter((index) => matchers.get(source)?.test(all[index] ?? ''))),
  };
}

/** All of Latin-1, and each further character of the expressions with its neighbours. */
function candidates(sources: readonly string[]): readonly string[] {
  const points = new Set([...Array(0x100).keys(), ...OTHERS]);
  for (const source of sources) {
    for (const [, escaped, literal] of source.matchAll(/\\u\{?([0-9a-fA-F]{4,6})\}?|([^\0-\xff])/gu)) {
      const point = escaped === undefined ? literal?.codePointAt(0) : Number.parseInt(escaped, 16);
      for (const near of [-1, 0, 1]) points.add(Math.min(Math.max(0, (point ?? 0) + near), 0x10_ffff));
    }
  }
  return [...points].map((point) => String.fromCodePoint(point));
}
