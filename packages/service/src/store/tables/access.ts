/** The ends of the chain of audit records. No row before the first record, then one. */
export interface AuditChainTable {
  /** 1. */
  id: number;
  /** Number and hash of the newest record. */
  seq: number;
  hash: string;
  /** Number and hash of the newest record that the retention deleted. */
  deleted_seq: number;
  deleted_hash: string;
}

/** Changes through the operator API. Rows have no foreign keys, because they outlive tokens, accounts and resets. */
export interface AuditRecordsTable {
  id: string;
  /** Milliseconds, by the clock of the machine. */
  time: number;
  /** `operator`, or the ID of an operator token or a verifier. */
  actor: string;
  actor_name: string;
  address: string;
  /** The operationId. */
  operation: string;
  target: string | null;
  /** JSON without secrets: the state before and after the change. */
  state_before: string;
  state_after: string;
  request_id: string;
  /** Number in the chain. Null for a record of a version before the chain, like the columns below. */
  seq: number | null;
  /** Random, for `content_hash`. Empty once the content was erased. */
  salt: string | null;
  /** SHA-256 of the target and the states. */
  content_hash: string | null;
  /** SHA-256 of the other columns and the hash of the record before. */
  hash: string | null;
}

/** Requests of an operator that wait for the same request of a second one. */
export interface ConfirmationsTable {
  /** The operationId. */
  operation: string;
  target: string;
  /** Who sent the first request. */
  actor: string;
  /** Milliseconds by the clock of the machine. */
  requested: number;
}

/** Sessions of the console whose holders have signed out, until they would have ended by themselves. */
export interface EndedSessionsTable {
  /** SHA-256 of the signed text in the cookie. */
  hash: string;
  /** Milliseconds. */
  ends: number;
}

/** Requests without a valid key or token, grouped. */
export interface FailedAuthenticationsTable {
  /** Minutes since 1970 by the clock of the machine. */
  minute: number;
  /** `reseller` or `operator`. */
  api: string;
  /** An IPv4 address or an IPv6 /64, or `others` for those beyond the limit of a minute. */
  network: string;
  count: number;
}

/** Tokens of the provider's team for the operator API. Their times follow the clock of the machine, also in a sandbox. */
export interface OperatorTokensTable {
  id: string;
  /** Name of its holder. */
  name: string;
  /** SHA-256 of the token, hexadecimal. */
  hash: string;
  /** JSON: the scopes. */
  scopes: string;
  /** Milliseconds. */
  created: number;
  /** Milliseconds. Null if it does not expire. */
  valid_until: number | null;
  /** Milliseconds. Null if it was not revoked. */
  revoked: number | null;
  /** The token with which it was created. Null if a version without this column stored it. */
  created_by: string | null;
}

/** Failed attempts of a third party or an operator to verify the code of an account. */
export interface OtpAttemptsTable {
  /** The ID of the third party or of the operator token. */
  verifier_id: string;
  /** The account that the request named, which need not exist. Empty if it named none. */
  account_id: string;
  /** Milliseconds: the first of the failures that are counted. */
  since: number;
  failed: number;
}

/** One-time codes. An account has at most one, because a newer code voids the older one. */
export interface OtpsTable {
  account_id: string;
  /** HMAC of the code with the service's secret. No two accounts have the same. */
  hash: string;
  /** Milliseconds. */
  expires: number;
  used: number;
}

/** Third parties that may verify one-time codes. */
export interface VerifiersTable {
  id: string;
  name: string;
  /** SHA-256 of its token, hexadecimal. */
  hash: string;
  /** Milliseconds. */
  created: number;
  /** Milliseconds. Null if the token was not revoked. */
  revoked: number | null;
}
