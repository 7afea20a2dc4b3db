/** Who is calling the operator API: the operator, or a third party that verifies codes. */
import { OPERATOR } from '../../operator/operation.ts';
import { OperatorProblem } from '../../operator/problem.ts';
import { sameHash, sha256 } from '../../rules/credentials.ts';
import type { Store } from '../../store/store.ts';
import { guessing } from '../guessing.ts';
import { counted } from '../../rules/counted.ts';

/** Who calls: `operator`, or the identifier of a third party. */
export type OperatorCaller = string;

/** Longest token that is looked at. */
const LONGEST = 512;
const BEARER = /^Bearer +([!-~]+) *$/i;

/** Failed attempts of an address. */
const FAILURES = { what: 'token', failures: 20, within: 60_000 };

/** A request, as far as authentication looks at it. */
export interface Presented {
  readonly authorization: string | undefined;
  readonly address: string;
}

/**
 * Authentication by bearer token. Both kinds are compared by their hashes, so that the time it
 * takes tells nothing of them.
 *
 * @param token The operator token; undefined for none, which refuses everyone but third parties.
 */
export function operatorAuthentication(store: Store, token: string | undefined): (presented: Presented) => Promise<OperatorCaller> {
  const operator = token === undefined ? undefined : sha256(token);
  const guesses = guessing(store.sharing.windows, FAILURES);
  return async ({ authorization, address }) => {
    if (authorization === undefined || authorization === '') {
      throw new OperatorProblem('unauthorized', 'The header Authorization is missing. Send your token in it, as Bearer and the token.');
    }
    const presented = authorization.length <= LONGEST ? BEARER.exec(authorization)?.[1] : undefined;
    const hash = presented === undefined ? undefined : sha256(presented);
    if (hash !== undefined && operator !== undefined && sameHash(hash, operator)) return OPERATOR;
    const verifier =
      hash &&
      (await store.read((db) =>
        db.selectFrom('verifiers').select('id').where('hash', '=', hash).where('revoked', 'is', null).executeTakeFirst(),
      ));
    if (verifier) return verifier.id;
    const retryAfter = await guesses.failed(address);
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
