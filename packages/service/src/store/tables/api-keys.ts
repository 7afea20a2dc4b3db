import type { Generated } from 'kysely';

export interface ApiKeysTable {
  id: string;
  account_id: string;
  /** SHA-256 of the key, hexadecimal. The key itself is not stored. */
  hash: string;
  label: string;
  /** `sandbox` or `live`. */
  mode: Generated<string>;
  /** `full`, or `read` for a key that allows only operations that change nothing. */
  access: Generated<string>;
  /** 1 if a key with the access `read` also reads secrets. */
  reads_secrets: Generated<number>;
  /** The key's own rate limit. Both columns are null if the default applies. */
  rate_requests: number | null;
  rate_seconds: number | null;
  /** The spending limit of the key. A rotated key shares it with the key that replaces it. Null without a limit. */
  limit_id: string | null;
  /** JSON: the networks that may use the key, in CIDR notation. Null for all. */
  allowed_networks: string | null;
  /** Milliseconds, at most a minute before the last use. Null if the key was not used. */
  last_used: number | null;
  /** Milliseconds: the expiry of the key, or the end of the overlap after a rotation. Null if no end is set. */
  valid_until: number | null;
  /** 1 if another key has replaced it. */
  rotated: Generated<number>;
  /** Milliseconds. */
  created: number;
  /** Milliseconds. Null if the key was not revoked. */
  revoked: number | null;
}
