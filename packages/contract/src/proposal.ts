import type { JsonObject } from './json.ts';

/** A small change of the document. Places are JSON pointers into it. Missing parents are created. */
export type Proposal =
  /** A member of an object that has no such member yet. */
  | { readonly kind: 'add-entry'; readonly at: string; readonly key: string; readonly value: JsonObject | true }
  | { readonly kind: 'remove-entry'; readonly at: string; readonly key: string }
  | { readonly kind: 'rename-key'; readonly at: string; readonly key: string; readonly to: string }
  | { readonly kind: 'add-item'; readonly at: string; readonly value: unknown }
  | { readonly kind: 'remove-item'; readonly at: string; readonly value: string }
  /** One more type for a `type`. */
  | { readonly kind: 'allow-type'; readonly at: string; readonly type: string }
  /** A response of its own in place of a reference to one that operations share: a copy with a change, or the change alone where it has one. */
  | { readonly kind: 'own-response'; readonly at: string; readonly value: JsonObject; readonly change: Proposal }
  /** A schema, or another that is allowed as well: `anyOf` of both. */
  | { readonly kind: 'add-alternative'; readonly at: string; readonly value: JsonObject };
