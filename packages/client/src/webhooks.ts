/** Verifies the events that a service with the extension sends to webhooks (Standard Webhooks). */
import type { WebhookPayload } from './generated/extension/types.gen.ts';
import { isRecord, parseJson } from './runtime/json.ts';

export type { WebhookPayload } from './generated/extension/types.gen.ts';

/** The request is not an event that was signed with the secret a short time ago. Respond with 400, and do nothing with its body. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/** How far the time of a request may be from the clock of this machine. A recorded request cannot be sent again later. */
const TOLERANCE_SECONDS = 300;
const SECRET_PREFIX = 'whsec_';
const VERSION = 'v1,';

/** The headers of a request: those of the Fetch API of any package, a `Map`, or those of Node. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a request and returns its event. Ignore an event whose `type` your program does not know, and one whose `id` it has handled before: a
 * request whose response was lost is sent again.
 *
 * @param payload The body of the request as it was received, as text or bytes. A body that was parsed and written again has another signature.
 * @param headers Needs `webhook-id`, `webhook-timestamp` and `webhook-signature`.
 * @param secret The `signing_secret` of the webhook, or several while one replaces another.
 * @throws WebhookVerificationError if the request was not signed with one of the secrets, or more than five minutes ago, or its body is not an event.
 * @throws TypeError if the payload is neither text nor bytes, or a secret is not that of a webhook.
 */
export async function verifyWebhook(
  payload: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[],
): Promise<WebhookPayload> {
  const keys = await Promise.all([secret].flat().map(importSecret));
  if (keys.length === 0) throw new TypeError('There is no secret. Pass the signing_secret of the webhook.');
  const text = typeof payload === 'string' ? payload : decoded(payload);
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => headerOf(headers, name));
  if (id === undefined || timestamp === undefined || signatures === undefined)
    throw new WebhookVerificationError(
      'The request has no webhook-id, webhook-timestamp or webhook-signature, so it is not from the service.',
    );
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(/^\d+$/.test(timestamp) && age <= TOLERANCE_SECONDS))
    throw new WebhookVerificationError(
      `The webhook-timestamp is more than ${TOLERANCE_SECONDS / 60} minutes from the clock of this machine, so the request is old, or the clock is wrong.`,
    );
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  for (const signature of signatures.split(' ')) {
    if (!signature.startsWith(VERSION)) continue;
    const bytes = bytesOf(signature.slice(VERSION.length));
    // Compares in constant time.
    for (const key of keys) if (bytes && (await crypto.subtle.verify('HMAC', key, bytes, signed))) return parsed(text);
  }
  throw new WebhookVerificationError(
    'No signature of the request fits its body and this secret. Pass the body as it was received, and the signing_secret of this webhook.',
  );
}

function decoded(payload: Uint8Array | ArrayBuffer): string {
  try {
    return new TextDecoder().decode(payload);
  } catch (cause) {
    throw new TypeError('The payload must be the body as it was received, as text or bytes. Pass it before it is parsed.', { cause });
  }
}

function parsed(text: string): WebhookPayload {
  const event = parseJson(text);
  if (!isEvent(event)) throw new WebhookVerificationError('The body of the request is signed and is not an event.');
  return event;
}

/** The signature proves that the service wrote the rest. */
function isEvent(value: unknown): value is WebhookPayload {
  return isRecord(value) && typeof value['type'] === 'string';
}

async function importSecret(secret: string) {
  const bytes = secret.startsWith(SECRET_PREFIX) ? bytesOf(secret.slice(SECRET_PREFIX.length)) : undefined;
  if (!bytes || bytes.length === 0)
    throw new TypeError(`The secret must be the signing_secret of a webhook, which begins with ${SECRET_PREFIX}.`);
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** The bytes of a Base64 text. Undefined for another text. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  // Headers of another package or realm are not instances of this `Headers`.
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : found?.[0];
}
