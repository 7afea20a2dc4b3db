import type { RequestFacts } from '../src/store/log-row.ts';

/** The facts of a request in an entry of which a test needs none. */
export const NO_FACTS: RequestFacts = { status: null, duration: null, key_id: null, idempotency_key: null, is_replay: null, bought: null };
