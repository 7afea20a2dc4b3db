/** Authentication of the operator API: the team of the provider, or a third party that verifies one-time codes. */
import { hasEnded } from '../../operator/access/session.ts';
import { findTokenHolder, findTokenHolderById } from '../../operator/access/token.ts';
import type { OperatorCaller } from '../../operator/operation.ts';
import { OperatorProblem } from '../../operator/problem.ts';
import type { Clock } from '../../ports/system.ts';
import { counted } from '../../rules/counted.ts';
import { sameHash, sha256 } from '../../rules/credentials.ts';
import type { Secrets } from '../../rules/credentials.ts';
import { readSession } from '../../rules/operator-session.ts';
import type { Store } from '../../store/store.ts';
import { createGuessingLimiter } from '../shared/guessing.ts';
import type { GuessingLimit } from '../shared/guessing.ts';
import type { SignInCodes } from './session.ts';

/** Longer tokens are not looked up. */
const MAX_TOKEN_LENGTH = 512;
const BEARER = /^Bearer +([!-~]+) *$/i;

/** Failed attempts per address. */
const GUESSING_LIMIT: GuessingLimit = { kind: 'guesses of a token', failures: 20, windowMs: 60_000 };

/** The holder of the token in the configuration. */
const FIRST_TOKEN: OperatorCaller = { id: 'operator', name: 'RESELLER_OPERATOR_TOKEN', scopes: ['admin'] };

export interface OperatorCredentials {
  readonly authorization: string | undefined;
  /** The address that the request comes from. */
  readonly address: string;
  /** The cookie of a session, if the browser says that a page of this origin sends the request. */
  readonly session?: string | undefined;
  /** Whether a sign-in code is taken as a token. */
  readonly signsIn?: boolean;
}

export interface OperatorRules {
  /** The token in the configuration, with the scope `admin`. */
  readonly token: string | undefined;
  /** The clock of the machine, which decides when a token expires. */
  readonly clock: Clock;
  /** The sign-in codes of the console. */
  readonly signInCodes: SignInCodes;
  /** With which sessions are signed. */
  readonly secrets: Secrets;
  /** Called with the address of each request without a valid token. */
  onFailure(address: string): void;
}

/** @throws OperatorProblem 401 without a valid token, 429 after too many failures. */
export type AuthenticateOperator = (credentials: OperatorCredentials) => Promise<OperatorCaller>;

/**
 * Tokens are compared and looked up by their hashes, so the duration reveals nothing about them. Nothing is cached, so that every instance
 * refuses a revoked token immediately.
 */
export function createOperatorAuthenticator(
  store: Store,
  { token, clock, signInCodes, secrets, onFailure }: OperatorRules,
): AuthenticateOperator {
  const operator = token === undefined ? undefined : sha256(token);
  const countFailure = createGuessingLimiter(store.sharing.windows, GUESSING_LIMIT);

  async function holderOf(session: string): Promise<OperatorCaller> {
    const hash = sha256(session);
    const read = readSession(session, secrets, (tokenId) => (tokenId === FIRST_TOKEN.id ? (operator ?? '') : ''));
    const isValid = read !== undefined && read.ends > clock.now() && !(await store.read((db) => hasEnded(db, hash)));
    const isFirst = read?.tokenId === FIRST_TOKEN.id && operator !== undefined;
    const holder = !isValid
      ? undefined
      : isFirst
        ? FIRST_TOKEN
        : await store.read((db) => findTokenHolderById(db, read.tokenId, clock.now()));
    if (holder && read) return { ...holder, session: { hash, ends: read.ends } };
    // A signature cannot be guessed, and a console keeps asking after its session has ended, so this counts as no failed attempt.
    throw new OperatorProblem('unauthorized', 'The session has ended. Sign in again.');
  }

  return async ({ authorization, address, session, signsIn }) => {
    // A session begins with a token or a code. With a cookie alone, a stolen one could be renewed without end.
    if (!authorization && session !== undefined && signsIn !== true) return holderOf(session);
    if (authorization === undefined || authorization === '') {
      throw new OperatorProblem('unauthorized', 'The header Authorization is missing. Send your token in it, as Bearer and the token.');
    }
    const presented = authorization.length <= MAX_TOKEN_LENGTH ? BEARER.exec(authorization)?.[1] : undefined;
    if (signsIn === true && presented !== undefined && operator !== undefined && signInCodes.redeem(presented)) return FIRST_TOKEN;
    const hash = presented === undefined ? undefined : sha256(presented);
    if (hash !== undefined && operator !== undefined && sameHash(hash, operator)) return FIRST_TOKEN;
    const holder = hash && (await store.read((db) => findTokenHolder(db, hash, clock.now())));
    if (holder) return holder;
    const verifier =
      hash &&
      (await store.read((db) =>
        db.selectFrom('verifiers').select(['id', 'name']).where('hash', '=', hash).where('revoked', 'is', null).executeTakeFirst(),
      ));
    if (verifier) return { ...verifier, scopes: null };
    onFailure(address);
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
      'The token in Authorization is unknown, has expired or has been revoked. Check it, or ask the operator for a new token.',
    );
  };
}
