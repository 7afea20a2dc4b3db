import { Webhook } from 'standardwebhooks';
import { afterEach, expect, test, vi } from 'vitest';

import { verifyWebhook, WebhookVerificationError } from '../src/webhooks.ts';
import type { WebhookPayload } from '../src/webhooks.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const EVENT = {
  id: '0192f7a4-4d80-7a31-9e52-c06b1f3d8a97',
  type: 'invoice.paid',
  timestamp: '2026-11-05T10:12:31.000Z',
  subject: 'invoice/1',
  data: { invoiceID: '1', number: 'RE-1', total: 48.2, credited: 0, status: 'PAID' },
};
const BODY = JSON.stringify(EVENT);

afterEach(() => void vi.useRealTimers());

/** The headers that the library of Standard Webhooks makes. */
function signed(secrets: readonly string[], { body = BODY, at = new Date(), id = EVENT.id } = {}): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
  };
}

test('returns an event that the library of Standard Webhooks has signed, with the type of its data', async () => {
  const event = await verifyWebhook(BODY, signed([SECRET]), SECRET);
  expect(event).toEqual(EVENT);
  // The compiler knows the data by the type.
  expect(event.type === 'invoice.paid' && event.data.total).toBe(48.2);
});

test('the types narrow by `type`', () => {
  const vmidOf = (event: WebhookPayload): number | undefined => (event.type === 'vm.deleted' ? event.data.vmid : undefined);
  expect(vmidOf(JSON.parse(BODY))).toBeUndefined();
});

test('accepts either signature of a rotation, headers of the Fetch API and of Node, and any case of their names', async () => {
  const both = signed([OTHER, SECRET]);
  for (const secret of [SECRET, OTHER]) expect(await verifyWebhook(BODY, both, secret)).toEqual(EVENT);
  expect(await verifyWebhook(BODY, new Headers(both), SECRET)).toEqual(EVENT);
  const upper = Object.fromEntries(Object.entries(both).map(([name, value]) => [name.toUpperCase(), [value]]));
  expect(await verifyWebhook(BODY, upper, SECRET)).toEqual(EVENT);
  expect(await verifyWebhook(BODY, { ...both, 'webhook-signature': `v2,x v1,!!! ${both['webhook-signature']}` }, SECRET)).toEqual(EVENT);
});

test('accepts headers of another package or a Map, a body of bytes, and one of several secrets', async () => {
  const headers = signed([SECRET]);
  const foreign = { get: (name: string) => headers[name] ?? null };
  for (const given of [foreign, new Map(Object.entries(headers))]) expect(await verifyWebhook(BODY, given, SECRET)).toEqual(EVENT);
  const bytes = new TextEncoder().encode(BODY);
  for (const body of [bytes, bytes.buffer, Buffer.from(bytes)]) expect(await verifyWebhook(body, headers, [OTHER, SECRET])).toEqual(EVENT);
  await expect(verifyWebhook(bytes, headers, [OTHER])).rejects.toThrow(WebhookVerificationError);
});

test('needs no Headers of the platform', async () => {
  vi.stubGlobal('Headers', undefined);
  expect(await verifyWebhook(BODY, signed([SECRET]), SECRET)).toEqual(EVENT);
  vi.unstubAllGlobals();
});

test.each(['not JSON', 'null', '[]', '{}'])('refuses the signed body %s, which is not an event, with the same class', async (body) => {
  await expect(verifyWebhook(body, signed([SECRET], { body }), SECRET)).rejects.toThrow(WebhookVerificationError);
});

test('says that a body was parsed, and that there is no secret', async () => {
  const parsed: unknown = Reflect.apply(verifyWebhook, undefined, [EVENT, signed([SECRET]), SECRET]);
  await expect(parsed).rejects.toThrow(
    new TypeError('The payload must be the body as it was received, as text or bytes. Pass it before it is parsed.'),
  );
  await expect(verifyWebhook(BODY, signed([SECRET]), [])).rejects.toThrow(TypeError);
});

test.each([
  ['another secret', BODY, signed([OTHER])],
  ['another body', BODY.replace('48.2', '0.01'), signed([SECRET])],
  ['another identifier', BODY, { ...signed([SECRET]), 'webhook-id': 'another' }],
  ['no signature', BODY, { ...signed([SECRET]), 'webhook-signature': '' }],
  ['no headers', BODY, {}],
  ['a time that is not a number', BODY, { ...signed([SECRET]), 'webhook-timestamp': 'now' }],
])('refuses %s', async (_what, body, headers) => {
  await expect(verifyWebhook(body, headers, SECRET)).rejects.toThrow(WebhookVerificationError);
});

test.each([
  [300, true],
  [301, false],
  [-300, true],
  [-301, false],
])('a request that is %i seconds old is accepted: %s', async (age, accepted) => {
  vi.useFakeTimers({ now: 1_794_000_000_000, toFake: ['Date'] });
  const headers = signed([SECRET], { at: new Date(Date.now() - age * 1000) });
  const verified = verifyWebhook(BODY, headers, SECRET);
  if (accepted) expect(await verified).toEqual(EVENT);
  else await expect(verified).rejects.toThrow('more than 5 minutes from the clock of this machine');
});

test.each(['', 'whsec_', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_!'])("names a secret that is none: '%s'", async (secret) => {
  await expect(verifyWebhook(BODY, signed([SECRET]), secret)).rejects.toThrow(TypeError);
});
