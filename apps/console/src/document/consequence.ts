/** `x-consequence`, as openapi/EXTENSIONS.md explains it. */
import type { OperationId } from '@reseller/operator-client';

import { decimalOf, grouped, sumOf } from '../api/money.ts';

type Values = Readonly<Record<string, string | number | null>>;

export interface DescribedConsequence {
  readonly reads: OperationId;
  readonly query?: Values;
  readonly items?: string;
  readonly where?: Values;
  readonly cases: readonly { readonly when?: Values; readonly text: string }[];
}

const CENTS = 2;

/** The sentence about what the operation `reads` returned. Undefined if no case fits. */
export function sentenceOf({ items: list, where = {}, cases }: DescribedConsequence, response: unknown): string | undefined {
  const items = list === undefined ? [response] : valuesAt(response, list).filter((item) => fits(item, where));
  const state = { ...Object(response), count: items.length };
  return cases
    .find(({ when = {} }) => fits(state, when))
    ?.text.replaceAll('{count}', String(items.length))
    .replaceAll(/\{([\w.]+)(?: ([/-]) ([\w.]+))?\}/g, (_, name: string, operator?: string, second = '') => {
      const amount = totalAt(items, name);
      if (operator === '/') return grouped(decimalOf(amount / BigInt(second), CENTS));
      return grouped(decimalOf(operator === '-' ? amount - totalAt(items, second) : amount));
    });
}

function fits(value: unknown, wanted: Values): boolean {
  return Object.entries(wanted).every(([name, one]) => (valuesAt(value, name)[0] ?? null) === one);
}

function totalAt(items: readonly unknown[], name: string): bigint {
  return sumOf(items.flatMap((item) => valuesAt(item, name)).map(String));
}

/** The values at a name with dots, of each item where it passes through a list, without null. */
function valuesAt(value: unknown, name: string): unknown[] {
  return name.split('.').reduce<unknown[]>((values, part) => values.flatMap((one) => Object(one)[part] ?? []), [value]);
}
