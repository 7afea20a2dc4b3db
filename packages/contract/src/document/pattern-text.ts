/**
 * A short text for a regular expression: literals, classes, groups, alternatives and repetitions. Ignores assertions and references, so the
 * caller must test the text.
 * @returns undefined when the expression has a part that cannot be read
 */
export function textForPattern(pattern: string): string | undefined {
  let at = 0;

  function alternatives(): string | undefined {
    const first = sequence();
    while (pattern[at] === '|') {
      at++;
      sequence();
    }
    return first;
  }

  function sequence(): string | undefined {
    let text: string | undefined = '';
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') {
      const part = atom();
      const times = quantifier();
      text = text === undefined || part === undefined ? undefined : text + part.repeat(times);
    }
    return text;
  }

  function atom(): string | undefined {
    const character = pattern[at++] ?? '';
    if (character === '^' || character === '$') return '';
    if (character === '.') return 'a';
    if (character === '[') return characterClass();
    if (character === '(') return group();
    return character === '\\' ? escape() : character;
  }

  function group(): string | undefined {
    const [prefix = ''] = /^\?(?:[:=!]|<[=!]|<\w+>)/.exec(pattern.slice(at)) ?? [];
    at += prefix.length;
    const text = alternatives();
    at++;
    return /[=!]$/.test(prefix) ? '' : text;
  }

  function escape(): string | undefined {
    const character = pattern[at++] ?? '';
    if (character === 'd') return '1';
    if (character === 'w') return 'a';
    if (character === 's') return ' ';
    if (character === 'b' || character === 'B') return '';
    return /[a-zA-Z0-9]/.test(character) ? undefined : character;
  }

  function characterClass(): string | undefined {
    const isNegated = pattern[at] === '^';
    if (isNegated) at++;
    const from = at;
    // A class can begin with a literal bracket only when it is escaped, as in ECMA 262.
    while (at < pattern.length && pattern[at] !== ']') at += pattern[at] === '\\' ? 2 : 1;
    const inside = pattern.slice(from, at);
    at++;
    if (inside.startsWith('\\') && !isNegated) {
      const after = at;
      at = from + 1;
      const text = escape();
      at = after;
      return text;
    }
    return isNegated ? ['a', '1', '-', '~'].find((one) => !inside.includes(one)) : inside[0];
  }

  function quantifier(): number {
    const [whole = '', least] = /^(?:\{(\d+)(?:,\d*)?\}|[*+?])\??/.exec(pattern.slice(at)) ?? [];
    at += whole.length;
    if (least !== undefined) return Number(least);
    return whole.startsWith('*') || whole.startsWith('?') ? 0 : 1;
  }

  const text = alternatives();
  return at >= pattern.length ? text : undefined;
}
