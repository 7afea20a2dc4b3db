import type { SecretName } from '../generated/document.gen.ts';

/** A response that may come from the request log, which masks secrets: properties that the document marks as secret may be missing. */
export type Recovered<T> = T extends readonly (infer Item)[]
  ? Recovered<Item>[]
  : T extends object
    ? { [Name in keyof T as Name extends SecretName ? never : Name]: Recovered<T[Name]> } & {
        [Name in keyof T as Name extends SecretName ? Name : never]?: T[Name];
      }
    : T;
