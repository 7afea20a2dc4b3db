/** The `curl` of errors and dry runs, run in shells: the server gets the request of the client, byte for byte. */
import { inspect } from 'node:util';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { HOSTILE_TEXTS, runInShells, SHELL_COUNT, startRecorder, whyNoCommandLines } from '../../../.config/command-line.ts';
import type { ArrivedRequest, Recorder } from '../../../.config/command-line.ts';
import { createReseller } from '../src/extension.ts';
import type { Reseller } from '../src/extension.ts';
import { InvalidError, ResellerError } from '../src/index.ts';

const API_KEY = 'k$(touch${IFS}made)`touch${IFS}made`!1"\'\\k';

let recorder: Recorder;
let reseller: Reseller;
beforeAll(async () => {
  recorder = await startRecorder();
  reseller = createReseller({
    apiKey: API_KEY,
    baseUrl: `${recorder.baseUrl}/a'b`.replace("'", '%27'),
    maxRetries: 0,
  });
});
afterAll(() => recorder.close());

const relevant = ({ method, url, headers, body }: ArrivedRequest) => ({
  method,
  url,
  key: headers['x-service-apikey'],
  idempotencyKey: headers['idempotency-key'],
  contentType: body === '' ? undefined : headers['content-type'],
  body,
});

/** Makes calls that fail, runs the command line of each error, and returns the requests that the server received from both. */
async function sendTwice(calls: readonly (() => Promise<unknown>)[]) {
  const from = recorder.arrived.length;
  const lines: string[] = [];
  for (const call of calls) {
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    if (!(error instanceof ResellerError)) throw new Error('The call did not fail.', { cause: error });
    lines.push(error.curl);
  }
  await runInShells(lines, { API_KEY });
  const arrived = recorder.arrived.slice(from).map(relevant);
  const byClient = arrived.slice(0, calls.length);
  return { byShells: arrived.slice(calls.length), expected: Array.from({ length: SHELL_COUNT }, () => byClient).flat() };
}

describe.skipIf(whyNoCommandLines !== undefined)('the curl of an error sends the same request', () => {
  test('with hostile texts in the path, as the idempotency key, and as the names and values of fields', async () => {
    const { byShells, expected } = await sendTwice(
      HOSTILE_TEXTS.map(
        (text) => () => reseller.request('POST', '/domain/a.test/dns', { [text]: text, type: text, sub: text }, { idempotencyKey: text }),
      ),
    );
    expect(byShells).toEqual(expected);
  });

  test('for a read, and for a change without a form', async () => {
    const { byShells, expected } = await sendTwice([
      () => reseller.domain.info('a.test'),
      () => reseller.domain.requestAuthcode('a.test'),
      () => reseller.account.requests({ offset: 50 }),
    ]);
    expect(byShells).toEqual(expected);
  });
});

test('sends a field of any name unchanged if the document does not name it', async () => {
  for (const text of HOSTILE_TEXTS) {
    await reseller.request('POST', '/domain/a.test/dns', { [text]: text, type: 'A' }).catch(() => {});
    expect([...new URLSearchParams(recorder.arrived.at(-1)?.body)].toSorted()).toEqual(
      [
        [text, text],
        ['type', 'A'],
      ].toSorted(),
    );
  }
});

test('errors, events and dry runs never show the key, a secret or personal data', async () => {
  const form = { domain: 'a.de', handle: 'HDL-1', authcode: 'very-secret' };
  const events: unknown[] = [];
  const client = createReseller({ apiKey: API_KEY, baseUrl: recorder.baseUrl, maxRetries: 0, onEvent: (event) => void events.push(event) });
  const handle = {
    gender: 'm',
    firstname: 'Ada',
    lastname: 'Very-Private',
    street: 'S',
    number: '1',
    zip: '1',
    city: 'C',
    country: 'DE',
    email: 'a@b.example',
    phone: '+49.1',
  };
  const thrown = [await client.domain.register(form).catch((error: unknown) => error)];
  const personal: unknown = await Reflect.apply(client.domain.handle.create, undefined, [handle]).catch((error: unknown) => error);
  for (const shown of [
    inspect([...thrown, personal, events], { depth: 9, showHidden: true }),
    JSON.stringify([thrown, personal, events]),
  ]) {
    expect(shown).not.toContain('very-secret');
    expect(shown).not.toContain(API_KEY);
    expect(shown).not.toContain(JSON.stringify(API_KEY).slice(1, -1));
  }
  expect(inspect(personal, { depth: 9 })).not.toContain('Very-Private');
});

test.each([
  ['half a character', '\ud800'],
  ['an empty text', ''],
  ['a number', 5],
])('refuses an idempotency key that is %s before it sends anything', async (_, idempotencyKey) => {
  const before = recorder.arrived.length;
  const error: unknown = await Reflect.apply(reseller.domain.requestAuthcode, undefined, ['a.test', { idempotencyKey }]).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(InvalidError);
  expect(error).toMatchObject({
    message: 'requestDomainAuthcode: idempotencyKey must be a text that is not empty. Nothing was sent.',
    fields: [{ field: 'idempotencyKey', rule: 'type', message: 'must be a text that is not empty' }],
  });
  expect(recorder.arrived).toHaveLength(before);
});

test('refuses a field whose name has a lone surrogate', async () => {
  await expect(reseller.request('POST', '/domain/a.test/dns', { 'a\ud800': 'b' })).rejects.toMatchObject({
    name: 'InvalidError',
    attempts: 0,
  });
});
