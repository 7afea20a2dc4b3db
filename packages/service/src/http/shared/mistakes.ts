import type { Issue } from '@reseller/contract';

/** Broken rules that are collected. Some of them repeat others, so a response names at most half as many. */
export const MAX_ISSUES = 100;

/** For each rule, the rules that make it redundant if the same value breaks them too. */
const REDUNDANT_WITH = new Map<string, readonly string[]>([
  ['format', ['minimum', 'maximum', 'pattern']],
  ['minLength', ['pattern', 'format']],
]);

/** Reports each mistake once. An empty text, for example, is not also too short. */
export function mistakesOf(issues: readonly Issue[]): readonly Issue[] {
  const broken = new Set(issues.map(({ path, keyword }) => `${path}\n${keyword}`));
  return issues.filter(({ path, keyword }) => !REDUNDANT_WITH.get(keyword)?.some((other) => broken.has(`${path}\n${other}`)));
}
