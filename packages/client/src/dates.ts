/** `createReseller({ dates: true })`: instants as `Date`. */
import { isRecord } from './runtime/json.ts';

/** `T` with a `Date` at each path. `*` means every item of an array or map. */
export type WithDates<T, Path extends string> = [Path] extends [never]
  ? T
  : T extends readonly (infer Item)[]
    ? WithDates<Item, Below<Path, '*'>>[]
    : T extends object
      ? { [Name in keyof T]: DateAt<T[Name], Path, Name> }
      : T;

type DateAt<Value, Path extends string, Name extends PropertyKey> = Name extends Path
  ? Date | Exclude<Value, string>
  : WithDates<Value, Below<Path, Name> | Below<Path, '*'>>;

/** The paths below a name, without it. */
type Below<Path extends string, Name extends PropertyKey> = Name extends string | number
  ? Path extends `${Name}.${infer Rest}`
    ? Rest
    : never
  : never;

/** A copy of a value with a `Date` at each path. Values that are not strings stay as they are. `WithDates` is the type of the result. */
export function withDates(value: never, paths: readonly string[]): never;
export function withDates(value: unknown, paths: readonly string[]): unknown {
  return paths.reduce<unknown>((at, path) => dateAt(at, path.split('.')), value);
}

function dateAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return typeof value === 'string' ? new Date(value) : value;
  if (Array.isArray(value)) return name === '*' ? value.map((item) => dateAt(item, rest)) : value;
  if (!isRecord(value)) return value;
  if (name === '*') return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, dateAt(item, rest)]));
  return name in value ? { ...value, [name]: dateAt(value[name], rest) } : value;
}
