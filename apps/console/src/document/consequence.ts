/** `x-consequence`, as openapi/EXTENSIONS.md explains it. */
import type { OperationId } from '@reseller/operator-client';

import { decimalOf, grouped, sumOf } from '../api/money.ts';

type Values = Readonly<Record<string, string | number | null>>;

export interface DescribedConsequence {
  readonly reads: OperationId;
  readonly parameters: Values;
  readonly items?: string;
  readonly where?: Values;
  readonly cases: readonly { readonly when?: Values; readonly text: string }[];
}

/** The parts of a request that a consequence can refer to. */
interface Request {
  readonly path?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
}

const CENTS = 2;

/** Evaluates the runtime expressions of a consequence, such as `$request.path.vm_id`. Undefined if the request lacks one of the values. */
export function evaluateConsequence(consequence: DescribedConsequence, { path, body }: Request): DescribedConsequence | undefined {
  const { parameters, where = {} } = consequence;
  function filled(values: Values): Values {
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        const [, place, key = ''] = /^\$request\.(path\.|body#\/)(\w+)$/.exec(String(value)) ?? [];
        return [name, place === undefined ? value : (Object(place === 'path.' ? path : body)[key] ?? '')];
      }),
    );
  }
  const given = { ...consequence, parameters: filled(parameters), where: filled(where) };
  return [...Object.values(given.parameters), ...Object.values(given.where)].includes('') ? undefined : given;
}

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

/**
 * The sentence about the first page of the response for which a case fits. The item of `where` may be on a later page.
 *
 * @param read Returns the page after a cursor.
 */
export async function readSentence(
  consequence: DescribedConsequence,
  read: (cursor: string | undefined) => Promise<unknown>,
): Promise<string | undefined> {
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    const text = sentenceOf(consequence, page);
    if (text !== undefined) return text;
    const { next_cursor: next }: { readonly next_cursor?: string | null } = Object(page);
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  return undefined;
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
