/** The signed text in the cookie of a session. Nothing about a session is stored, so every instance can check it. */
import { createHmac } from 'node:crypto';

import { acceptedSecrets, sameHash } from './credentials.ts';
import type { Secrets } from './credentials.ts';

/** How long a session lasts. */
export const SESSION_MS = 12 * 3_600_000;

/** A session of the holder of an operator token. */
export interface OperatorSession {
  /** Identifier of the token. */
  readonly tokenId: string;
  /** When the session ends, in milliseconds. */
  readonly ends: number;
}

/** @param bound A text that ends the session when it changes, such as the hash of the token in the configuration. */
export function signSession(session: OperatorSession, secret: string, bound: string): string {
  const { tokenId, ends } = session;
  return `${tokenId}.${ends}.${sessionSignatureOf(session, secret, bound)}`;
}

/** The session in a signed text. Undefined if the signature is wrong. Whether it has ended is not checked. */
export function readSession(text: string, secrets: Secrets, bound: (tokenId: string) => string): OperatorSession | undefined {
  const [tokenId = '', ends = '', signature = '', ...rest] = text.split('.');
  if (rest.length > 0 || !/^\d{1,15}$/.test(ends)) return undefined;
  const session = { tokenId, ends: Number(ends) };
  const isSigned = acceptedSecrets(secrets).some((secret) => sameHash(signature, sessionSignatureOf(session, secret, bound(tokenId))));
  return isSigned ? session : undefined;
}

function sessionSignatureOf({ tokenId, ends }: OperatorSession, secret: string, bound: string): string {
  return createHmac('sha256', secret).update(`operator-session:${tokenId}:${ends}:${bound}`).digest('base64url');
}
