/** One request to a webhook. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

import { errorText } from '@reseller/contract/is-error';

import type { Attempt } from './deliveries.ts';
import { addressIn, guardedLookup, isAllowedAddress } from './webhook-url.ts';

/** Milliseconds for a whole request (extension: "Webhooks"). */
export const REQUEST_TIMEOUT_MS = 15_000;
/** More of a response is not read. */
const MAX_RESPONSE_BYTES = 16_384;
const MAX_ERROR_LENGTH = 200;

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether it may go to the machine itself. */
  readonly loopback: boolean;
  /** Aborts it. */
  readonly signal: AbortSignal;
}

/** Sends a request, follows no redirect, and uses nothing of the response but its status. Never rejects. */
export async function post({ url: text, headers, body, loopback, signal }: WebhookRequest): Promise<Attempt> {
  const begun = performance.now();
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  function ended(status: number | null, error: string | undefined): Attempt {
    return { status, error: error?.slice(0, MAX_ERROR_LENGTH), duration: Math.round(performance.now() - begun) };
  }
  const url = new URL(text);
  const address = addressIn(url);
  if (address !== undefined && !isAllowedAddress(address, loopback)) return ended(null, `${address} is not a public address`);
  try {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const request = send(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      agent: false,
      lookup: guardedLookup(loopback),
      signal: AbortSignal.any([signal, timeout]),
    });
    const response = await sendRequest(request, body);
    await readSome(response);
    const status = response.statusCode ?? 0;
    return ended(status, errorOfStatus(status));
  } catch (error) {
    return ended(null, timeout.aborted ? `no response within ${REQUEST_TIMEOUT_MS / 1000} seconds` : errorText(error));
  }
}

function errorOfStatus(status: number): string | undefined {
  if (status >= 200 && status <= 299) return undefined;
  if (status >= 300 && status <= 399) return `the response was ${status}, and redirects are not followed`;
  return `the response was ${status}`;
}

function sendRequest(request: ClientRequest, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // Also after the response has begun, an error must have a listener.
    request.on('error', reject);
    request.on('response', resolve);
    request.end(body);
  });
}

/** Reads a response to its end, if it is short and the time suffices. The status is what counts. */
function readSome(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_RESPONSE_BYTES) response.destroy();
    });
    response.on('error', () => {});
    response.on('close', resolve);
  });
}
