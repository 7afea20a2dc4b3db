import { isObject } from './json.ts';
import { joinPointer, pointerTokens, valueAt } from './pointer.ts';

/** A deep copy with another value at a pointer; undefined removes the member. */
export function replaced(root: unknown, pointer: string, value: unknown): unknown {
  const tokens = pointerTokens(pointer);
  const last = tokens.at(-1);
  if (last === undefined) return value;
  const copy: unknown = structuredClone(root);
  const holder = valueAt(copy, joinPointer('', ...tokens.slice(0, -1)));
  if (value === undefined && isObject(holder)) Reflect.deleteProperty(holder, last);
  else if (typeof holder === 'object' && holder !== null) Reflect.set(holder, last, value);
  return copy;
}
