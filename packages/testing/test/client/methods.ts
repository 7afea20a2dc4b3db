/** The methods of a client by the operation that they call, for tests of every operation. */
import type { Reseller } from '@reseller/client';
import * as operations from '@reseller/client/operations';

import { PLACES } from '../../../client/src/places.ts';
import type { Places } from '../../../client/src/places.ts';

export type Method = (...input: unknown[]) => Promise<unknown>;

/** Calls from JavaScript, which no compiler checks. */
export function methodsByOperation(reseller: Reseller): ReadonlyMap<string, Method> {
  return new Map(entriesOf(PLACES, reseller));
}

/** The single functions by the operation that they call. */
export function functionsByOperation(client: operations.Client): ReadonlyMap<string, Method> {
  const { createClient: _, ...functions } = operations;
  return new Map(
    Object.entries(functions).map(([id, call]) => [id, (input) => Reflect.apply(call, undefined, [{ ...Object(input), client }])]),
  );
}

function entriesOf(places: Places, group: object): [string, Method][] {
  return Object.entries(places).flatMap(([name, place]): [string, Method][] => {
    const member: unknown = Reflect.get(group, name);
    if (typeof place !== 'string') return typeof member === 'object' && member !== null ? entriesOf(place, member) : [];
    if (typeof member !== 'function') throw new Error(`There is no method ${name} for ${place}.`);
    return [[place, (...input) => Promise.resolve(Reflect.apply(member, undefined, input))]];
  });
}
