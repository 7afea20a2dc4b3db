/** The effect of a change (`x-effect`), and the question that a person is asked before it. */
import { valueAt } from '@reseller/contract';
import type { Operation } from '@reseller/contract';

import type { Api } from '../api.ts';
import type { Input } from '../input.ts';
import { printable } from '../text.ts';

/** The warning to a person, by the effect of a change. */
const SENTENCES: Readonly<Record<string, string>> = {
  cost: 'This starts or raises a cost.',
  money: 'This moves money, or sets a price or a tax.',
  end: 'This stops or removes something.',
  redirect: 'This changes where traffic, mail or payments go.',
  power: 'This gives access, or changes what someone may do.',
};

const UNKNOWN = 'The document does not say what this changes.';

/** The effect that the document names; undefined if the change is harmless. */
export function effectOf({ document }: Api, { pointer, readOnly }: Operation): string | undefined {
  if (readOnly) return undefined;
  const { 'x-effect': effect }: { 'x-effect'?: unknown } = Object(valueAt(document, pointer));
  return effect === 'none' ? undefined : String(effect);
}

/** The warning about an effect, in one line. */
export function warningOf(effect: string, { destructive }: Pick<Operation, 'destructive'>): string {
  return destructive ? 'This cannot be undone.' : (SENTENCES[effect] ?? UNKNOWN);
}

/** Longer texts are shown by their beginning and their length. */
const MAX_SHOWN_CHARACTERS = 200;

/** A question with what matters first, and one line for each value, so that no value can pretend to be another line. */
export function questionOf(first: string, summary: string, { path, query, body }: Input, customer?: string): string {
  const values = Object.entries({ ...path, ...query, ...body }).map(([name, value]) => `${printable(name)}: ${shown(value)}`);
  const about = customer === undefined ? [] : [`Customer: ${shown(customer)}`];
  return [printable(first), `${summary}?`, ...about, ...values].join('\n');
}

function shown(value: unknown): string {
  const text = printable(JSON.stringify(value));
  return text.length <= MAX_SHOWN_CHARACTERS ? text : `${text.slice(0, MAX_SHOWN_CHARACTERS)}… (${text.length} characters)`;
}
