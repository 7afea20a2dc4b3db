import { readFile } from 'node:fs/promises';

import { createClient, ResellerError, verifyOtp } from '@reseller/operator-client';

import { CannotRunError } from './cannot-run.ts';
import { START_SANDBOX } from './installation.ts';
import { keyFile, LOOPBACK } from './options.ts';
import type { Arguments, Environment } from './options.ts';

/** The operator API of the tested service, at which one-time codes are presented as by a third party. */
export interface OperatorAccess {
  readonly url: URL;
  /** A token of the operator, or of a verifier, which may only verify one-time codes. */
  readonly token: string;
}

/** The characters that are allowed in a header: visible ASCII. */
const TOKEN = /^[!-~]+$/;
const TIMEOUT_MS = 10_000;

/**
 * Reads the address of the operator API (`--operator` or RESELLER_OPERATOR_URL) and its token: RESELLER_OPERATOR_TOKEN or, on this machine
 * only, that of the sandbox. Returns undefined without an address.
 * @throws {CannotRunError} when there is an address without a usable token
 */
export async function readOperator(
  { operator: url }: Pick<Arguments, 'operator'>,
  environment: Environment,
): Promise<OperatorAccess | undefined> {
  if (url === undefined) return undefined;
  const tokenFile = keyFile('operator-token', environment);
  const isLocal = LOOPBACK.has(url.hostname);
  const token = (environment['RESELLER_OPERATOR_TOKEN'] ?? (isLocal ? await readFile(tokenFile, 'utf8').catch(() => '') : '')).trim();
  if (token === '')
    throw new CannotRunError(
      `There is no token for the operator API. Set RESELLER_OPERATOR_TOKEN to the token of the operator or of a verifier${isLocal ? `, or start the sandbox once (${START_SANDBOX}), which writes ${tokenFile}` : ''}.`,
    );
  if (!TOKEN.test(token))
    throw new CannotRunError(
      'The operator token has characters that are not allowed in a header. Check that you copied all of it, without spaces.',
    );
  return { url, token };
}

/**
 * Checks that codes can be presented, with an invalid one that uses up no code.
 * @throws {CannotRunError} when the address is not that of an operator API, or it refuses the token
 */
export async function assertOperator({ url, token }: OperatorAccess): Promise<void> {
  const status = await present({ url, token }, '').catch((error: unknown) => {
    throw new CannotRunError(`The operator API at ${url.origin} does not respond. Start it, or leave --operator out.`, { cause: error });
  });
  if (status === 401 || status === 403)
    throw new CannotRunError(`The operator API at ${url.origin} refuses the token (${status}). Check RESELLER_OPERATOR_TOKEN.`);
  if (status !== 422)
    throw new CannotRunError(
      `${url.href} is not the base address of an operator API: POST /otp/verify without a code returned ${status}, not 422. Give one such as --operator http://127.0.0.1:4011.`,
    );
}

/**
 * Presents one-time codes at an operator API (`POST /otp/verify`), which uses them up.
 * @returns a function that returns whether a code was accepted, and throws when the response does not show that
 */
export function otpPresenter(access: OperatorAccess): (code: string) => Promise<boolean> {
  return async (code) => {
    const status = await present(access, code);
    if (status === 200) return true;
    // assertOperator has checked the path, so 404 means an invalid code.
    if (status === 404) return false;
    throw new Error(`the operator API at ${access.url.origin} returned ${status} for a code`);
  };
}

/** @returns the status of the response, even if it is not from the API */
async function present({ url, token }: OperatorAccess, code: string): Promise<number> {
  const client = createClient({ baseUrl: url.href, token, timeoutMs: TIMEOUT_MS, maxRetries: 0 });
  try {
    return (await verifyOtp({ client, body: { code } }).withMeta()).status;
  } catch (error) {
    if (error instanceof ResellerError && error.status !== undefined) return error.status;
    throw new Error(`the operator API at ${url.origin} does not respond`, { cause: error });
  }
}
