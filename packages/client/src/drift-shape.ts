/** What an answer may hold, as the document describes it: a name or the letters of scalar types, or what is within. */
export type Shape =
  | string
  | {
      /** Letters of the scalar types that it may also have: s, i, n, b, and z for null. */
      readonly or?: string;
      /** Properties; a name that ends in `?` is optional. */
      readonly of?: Readonly<Record<string, Shape>>;
      /** What each value of a map is. */
      readonly each?: Shape;
      /** What each item of a list is. */
      readonly list?: Shape;
      /** Values that the document names. */
      readonly seen?: readonly unknown[];
    };
