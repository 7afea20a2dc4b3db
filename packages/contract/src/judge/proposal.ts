import type { JsonObject } from '../document/json.ts';

/** A small change of the document. `at` is a JSON pointer; missing parents are created. */
export type Proposal =
  /** Adds a member to an object that does not have it. */
  | { readonly kind: 'add-entry'; readonly at: string; readonly key: string; readonly value: JsonObject | true }
  | { readonly kind: 'remove-entry'; readonly at: string; readonly key: string }
  | { readonly kind: 'rename-key'; readonly at: string; readonly key: string; readonly to: string }
  | { readonly kind: 'add-item'; readonly at: string; readonly value: unknown }
  | { readonly kind: 'remove-item'; readonly at: string; readonly value: string }
  /** Adds a type to a `type`. */
  | { readonly kind: 'allow-type'; readonly at: string; readonly type: string }
  /** Replaces the reference to a shared response by a changed copy, or applies only the change if there is no reference. */
  | { readonly kind: 'own-response'; readonly at: string; readonly value: JsonObject; readonly change: Proposal }
  /** Allows another schema: `anyOf` of both. */
  | { readonly kind: 'add-alternative'; readonly at: string; readonly value: JsonObject };
