/** Labels of VMs, and the selectors that find VMs by them (extension: POST /vm/{vmid}/edit and POST /vm/search). */
import type { BrokenField } from './broken-field.ts';

/** The values of labels by their keys. */
export type Labels = Readonly<Record<string, string>>;

/** One condition of a selector. `value` is undefined if only the key counts. */
interface Condition {
  readonly key: string;
  readonly value: string | undefined;
  readonly isNegated: boolean;
}

/** A text in the notation of the document, which its pattern has checked: `env=production,team=web`. */
export function readLabels(text: string): { readonly labels: Labels } | { readonly broken: BrokenField } {
  const pairs = text === '' ? [] : text.split(',').map((pair): [string, string] => splitAt(pair, pair.indexOf('=')));
  const keys = pairs.map(([key]) => key);
  const repeated = keys.find((key, position) => keys.indexOf(key) !== position);
  if (repeated !== undefined) {
    return { broken: { field: 'labels', rule: 'distinct', message: `must have each key once, and has ${repeated} more than once` } };
  }
  return { labels: Object.fromEntries(pairs.toSorted(([one], [other]) => (one < other ? -1 : 1))) };
}

/** Labels as the store has them. */
export function labelsOf(stored: string): Labels {
  const labels: Labels = JSON.parse(stored);
  return labels;
}

/** @param selector In the notation of the document, which its pattern has checked: `env=production,team,!old,role!=db`. */
export function labelMatcher(selector: string): (labels: Labels) => boolean {
  const conditions = selector.split(',').map(conditionOf);
  return (labels) => conditions.every((condition) => isMet(condition, labels));
}

function conditionOf(text: string): Condition {
  if (text.startsWith('!')) return { key: text.slice(1), value: undefined, isNegated: true };
  const at = text.indexOf('=');
  if (at < 0) return { key: text, value: undefined, isNegated: false };
  const isNegated = text[at - 1] === '!';
  return { key: text.slice(0, isNegated ? at - 1 : at), value: text.slice(at + 1), isNegated };
}

/** A VM without the key fulfils `key!=value`, as in other systems with label selectors. */
function isMet({ key, value, isNegated }: Condition, labels: Labels): boolean {
  const isPresent = Object.hasOwn(labels, key) && (value === undefined || labels[key] === value);
  return isPresent !== isNegated;
}

function splitAt(text: string, at: number): [string, string] {
  return [text.slice(0, at), text.slice(at + 1)];
}
