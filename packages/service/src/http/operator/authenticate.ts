/** Authentication of the operator API: the operator, or a third party that verifies one-time codes. */
import { OPERATOR } from '../../operator/operation.ts';
import { OperatorProblem } from '../../operator/problem.ts';
import { sameHash, sha256 } from '../../rules/credentials.ts';
import type { Store } from '../../store/store.ts';
import { createGuessingLimiter } from '../guessing.ts';
import type { GuessingLimit } from '../guessing.ts';
import { counted } from '../../rules/counted.ts';

/** Longer tokens are not looked up. */
const MAX_TOKEN_LENGTH = 512;
const BEARER = /^Bearer +([!-~]+) *$/i;

/** Failed attempts per address. */
const GUESSING_LIMIT: GuessingLimit = { kind: 'guesses of a token', failures: 20, windowMs: 60_000 };

export interface OperatorCredentials {
  readonly authorization: string | undefined;
  /** The address that the request comes from. */
  readonly address: string;
}

/**
 * @returns `operator`, or the ID of a verifier.
 * @throws OperatorProblem 401 without a valid token, 429 after too many failures.
 */
export type AuthenticateOperator = (credentials: OperatorCredentials) => Promise<string>;

/**
 * Tokens are compared by their hashes, so the duration of a comparison reveals nothing about them.
 *
 * @param token The operator token. Without it, only verifiers are admitted.
 */
export function createOperatorAuthenticator(store: Store, token: string | undefined): AuthenticateOperator {
  const operator = token === undefined ? undefined : sha256(token);
  const countFailure = createGuessingLimiter(store.sharing.windows, GUESSING_LIMIT);
  return async ({ authorization, address }) => {
    if (authorization === undefined || authorization === '') {
      throw new OperatorProblem('unauthorized', 'The header Authorization is missing. Send your token in it, as Bearer and the token.');
    }
    const presented = authorization.length <= MAX_TOKEN_LENGTH ? BEARER.exec(authorization)?.[1] : undefined;
    const hash = presented === undefined ? undefined : sha256(presented);
    if (hash !== undefined && operator !== undefined && sameHash(hash, operator)) return OPERATOR;
    const verifier =
      hash &&
      (await store.read((db) =>
        db.selectFrom('verifiers').select('id').where('hash', '=', hash).where('revoked', 'is', null).executeTakeFirst(),
      ));
    if (verifier) return verifier.id;
    const retryAfter = await countFailure(address);
    if (retryAfter !== undefined) {
      throw new OperatorProblem(
        'rate-limited',
        `Too many requests came from this address without a valid token. Wait ${counted(retryAfter, 'second')}, as Retry-After says.`,
        { retryAfter },
      );
    }
    throw new OperatorProblem(
      'unauthorized',
      'The token in Authorization is unknown or has been revoked. Check it, or ask the operator for a new token.',
    );
  };
}
