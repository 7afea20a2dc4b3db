/** The cookie of a session of the console, and the codes with which a session begins. */
import type { FastifyRequest } from 'fastify';

import type { Clock } from '../../ports/system.ts';
import { newSignInCode, sha256 } from '../../rules/credentials.ts';
import { SESSION_MS, signSession } from '../../rules/operator-session.ts';
import type { Random } from '../../rules/random.ts';
import type { HttpContext } from '../shared/context.ts';

const COOKIE = 'reseller_session';
const VALUE = /^[\w.-]{1,512}$/;

/** How long a sign-in code is valid. */
const CODE_TTL_MS = 3_600_000;

/** One-time codes of this process. A sandbox prints one when it starts. */
export interface SignInCodes {
  issue(): string;
  /** Whether the code is valid. Afterwards it is not. */
  redeem(code: string): boolean;
}

/** @param clock The clock of the machine. */
export function createSignInCodes(random: Random, clock: Clock): SignInCodes {
  /** When each code expires, by its hash. */
  const codes = new Map<string, number>();
  return {
    issue() {
      const code = newSignInCode(random);
      codes.set(sha256(code), clock.now() + CODE_TTL_MS);
      return code;
    },
    redeem(code) {
      const hash = sha256(code);
      const expires = codes.get(hash) ?? -Infinity;
      codes.delete(hash);
      return clock.now() < expires;
    },
  };
}

/**
 * The session of a request. Browsers send the cookie of a host to all of its ports, and with requests of pages at its other ports. So a
 * session counts only if the browser says that a page of this origin sends the request. No page can set this header.
 */
export function sessionOf(request: FastifyRequest): string | undefined {
  const { headers } = request;
  if (headers['sec-fetch-site'] !== 'same-origin') return undefined;
  const start = `${cookieName(request)}=`;
  const cookie = (headers.cookie ?? '').split(/;\s*/).find((one) => one.startsWith(start));
  const value = cookie?.slice(start.length) ?? '';
  return VALUE.test(value) ? value : undefined;
}

/** With the port of the address, so that two services on one machine do not replace each other's cookie. */
function cookieName({ host }: FastifyRequest): string {
  return /:\d+$/.test(host) ? `${COOKIE}_${host.slice(host.lastIndexOf(':') + 1)}` : COOKIE;
}

/** The headers of the responses that begin and end a session. */
export function sessionHeaders(
  operationId: string,
  { runtime, sandbox, operatorToken }: HttpContext,
  request: FastifyRequest,
): Record<string, string> {
  if (operationId === 'endSession') return { 'set-cookie': cookieOf('', 0, request) };
  const { operatorCaller: caller } = request;
  if (operationId !== 'createSession' || caller === null) return {};
  const bound = caller.id === 'operator' && operatorToken !== undefined ? sha256(operatorToken) : '';
  const session = { tokenId: caller.id, ends: sandbox.clock.base.now() + SESSION_MS };
  return { 'set-cookie': cookieOf(signSession(session, runtime.secret, bound), SESSION_MS / 1000, request) };
}

function cookieOf(value: string, maxAge: number, request: FastifyRequest): string {
  const isSecure = request.protocol === 'https';
  return [
    `${cookieName(request)}=${value}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    `Max-Age=${maxAge}`,
    ...(isSecure ? ['Secure'] : []),
  ].join('; ');
}
