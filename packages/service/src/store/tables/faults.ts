/** Failures that the sandbox injects into requests of the reseller API. */
export interface FaultsTable {
  id: string;
  /** JSON of operationIds. Null for all. */
  operations: string | null;
  /** JSON of identifiers of API keys. Null for all. */
  api_key_ids: string | null;
  /** JSON of FaultEffectInput. */
  effect: string;
  times: number;
  remaining: number;
  /** Milliseconds. */
  created: number;
}
