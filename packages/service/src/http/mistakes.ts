import type { Issue } from '@reseller/contract';

/** Rules that go without saying where the same value breaks another one: that one says more, or may be all that is wrong. */
const SAID_BY = new Map<string, readonly string[]>([
  ['format', ['minimum', 'maximum', 'maxLength', 'pattern']],
  ['minLength', ['pattern', 'format']],
  ['pattern', ['maxLength']],
]);

/** The issues of a request with each mistake reported once: an empty text is not also too short. */
export function mistakesOf(issues: readonly Issue[]): readonly Issue[] {
  const broken = new Set(issues.map(({ path, keyword }) => `${path}\n${keyword}`));
  return issues.filter(({ path, keyword }) => !SAID_BY.get(keyword)?.some((other) => broken.has(`${path}\n${other}`)));
}
