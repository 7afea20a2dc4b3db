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
  /** Milliseconds: the end of the overlap after a rotation. Null if no end is set. */
  valid_until: number | null;
  /** Milliseconds. */
  created: number;
  /** Milliseconds. Null if the key was not revoked. */
  revoked: number | null;
}
