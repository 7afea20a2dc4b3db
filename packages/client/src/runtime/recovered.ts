import type { SecretName } from '../generated/facts.gen.ts';

/**
 * An answer as the request log kept it: the properties that the document marks as secret may be
 * missing, since the log masks them.
 */
export type Recovered<T> = T extends readonly (infer Item)[]
  ? Recovered<Item>[]
  : T extends object
    ? { [Name in keyof T as Name extends SecretName ? never : Name]: Recovered<T[Name]> } & {
        [Name in keyof T as Name extends SecretName ? Name : never]?: T[Name];
      }
    : T;
