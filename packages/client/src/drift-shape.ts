/** The shape of a response in the document: a name, the letters of scalar types, or the shapes of its parts. */
export type Shape =
  | string
  | {
      /** Letters of the scalar types that it may also have: s, i, n, b, and z for null. */
      readonly or?: string;
      /** Properties; a name that ends in `?` is optional. */
      readonly of?: Readonly<Record<string, Shape>>;
      /** The shape of each value of a map. */
      readonly each?: Shape;
      /** The shape of each item of a list. */
      readonly list?: Shape;
      /** Values that the document names. */
      readonly seen?: readonly unknown[];
    };
