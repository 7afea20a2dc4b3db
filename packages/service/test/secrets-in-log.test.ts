/** Secrets that callers send to the wrong place: none of them is in the request log, in a line of the service's log or in a response. */
import { Writable } from 'node:stream';

import { secretNames } from '@reseller/contract';
import document from '@reseller/openapi/service.json' with { type: 'json' };
import * as fc from 'fast-check';
import { pino } from 'pino';
import { expect, test } from 'vitest';

import { apiOperations } from '../src/http/reseller/api.ts';
import { systemRandom } from '../src/index.ts';
import { newApiKey, newOperatorToken, newVerifierToken } from '../src/rules/credentials.ts';
import { SMALL_VM, startService } from './harness.ts';
import type { TestService } from './harness.ts';

const FORM = 'application/x-www-form-urlencoded';

/** A service whose own log is kept in memory at its finest level. */
async function startLogged(): Promise<TestService & { readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const service = await startService({ logger: pino({ level: 'trace' }, stream) });
  return { ...service, lines };
}

/** Every place that may have data of a request. */
async function traces(service: TestService & { readonly lines: readonly string[] }, response: string): Promise<string> {
  await service.store.requestLog.numberAll();
  const rows = await service.store.read(async (db) => [
    await db.selectFrom('request_log').selectAll().execute(),
    await db.selectFrom('request_log_bodies').selectAll().execute(),
  ]);
  const shown = await service.call('listRequests');
  return [response, ...service.lines, JSON.stringify(rows), JSON.stringify(shown.body)].join('\n');
}

/** Every line with one of the texts, cut to its context. */
function leaksOf(texts: readonly string[], left: string): readonly string[] {
  const lower = left.toLowerCase();
  return texts.flatMap((text) => {
    const at = lower.indexOf(text.toLowerCase());
    return at < 0 ? [] : [left.slice(Math.max(0, at - 200), at + text.length + 50)];
  });
}

/** The common form of all spellings of a name. */
const comparable = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, '');

/** A secret name as clients write it: another case, with underscores or hyphens, or a part of a longer name. */
const writtenName = fc
  .tuple(fc.constantFrom(...secretNames(document)), fc.infiniteStream(fc.nat(3)), fc.constantFrom('', 'new_', 'config[', 'user.'))
  .map(([name, choices, prefix]) => {
    const written = [...name].map((character) => {
      const { value } = choices.next();
      if (value === 1) return character.toUpperCase();
      if (value === 2) return `_${character}`;
      return value === 3 ? `-${character}` : character;
    });
    return prefix + written.join('') + (prefix.endsWith('[') ? ']' : '');
  });

/** A value that occurs nowhere by chance. */
const secretValue = fc.stringMatching(/^[A-Za-z0-9]{24}$/);
const encode = encodeURIComponent;

/** A text whose characters are percent-encoded here and there, once or several times. */
const recoded = (text: string) =>
  fc
    .array(fc.nat(3), { minLength: text.length, maxLength: text.length })
    .map((depths) => [...text].map((character, index) => encodedTimes(character, depths[index] ?? 0)).join(''));

function encodedTimes(character: string, times: number): string {
  const hex = character.charCodeAt(0).toString(16);
  return times === 0 ? character : `%${'25'.repeat(times - 1)}${times % 2 === 0 ? hex.toUpperCase() : hex}`;
}

async function sendTo(service: TestService, path: string, { method, type = FORM, body }: { method: string; type?: string; body?: string }) {
  const hasBody = body !== undefined && method !== 'GET';
  const headers = { 'x-service-apikey': service.apiKey, ...(hasBody ? { 'content-type': type } : {}) };
  return (await fetch(service.baseUrl + path, { method, headers, ...(hasBody ? { body } : {}) })).text();
}

test('masks every secret name in every operation, whatever field or writing it has', async () => {
  const service = await startLogged();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...apiOperations), writtenName, secretValue, fc.nat(7), async ({ operation }, name, value, place) => {
      const path = operation.path.replaceAll(/\{\w+\}/g, 'example.net');
      const pair = `${encode(name)}=${value}`;
      const json = JSON.stringify({ [name]: value });
      const sent: readonly [string, string | undefined, string?][] = [
        [path, `a=1&${pair}`],
        [path, json],
        [path, json, 'application/json'],
        [path, `x=%zz&${pair}&y=${encode(json)}`],
        [`${path}?${pair}`, undefined],
        [`${path}?${encode(json)}`, undefined],
        [`${path}?${encode(`${name}=${value}`)}`, undefined],
        [`${path}&${pair}`, `ns1=${encode(`${name}=${value}`)}`],
      ];
      const [url, body, type] = sent[place] ?? [path, undefined];
      const response = await sendTo(service, url, {
        method: operation.method,
        ...(body === undefined ? {} : { body }),
        ...(type === undefined ? {} : { type }),
      });
      expect(leaksOf([value], await traces(service, response))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test("masks the caller's own key wherever and however it is written, in every operation", async () => {
  const service = await startLogged();
  const { apiKey: key } = service;
  const writings = fc.oneof(
    fc.constant(key),
    recoded(key),
    fc.constant(key.toUpperCase()),
    fc.constant(Buffer.from(key).toString('hex')),
    fc.nat(2).map((before) => Buffer.from('a'.repeat(before) + key).toString('base64')),
    fc.constant([...key].map((character) => `\\u00${character.charCodeAt(0).toString(16)}`).join('')),
    fc.constant([...key].map((character) => `&#${character.charCodeAt(0)};`).join('')),
  );
  const secretOf = key.slice('rsk_sandbox_'.length);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...apiOperations), writings, fc.nat(6), async ({ operation }, text, place) => {
      const path = operation.path.replaceAll(/\{\w+\}/g, 'example.net');
      const inPath = operation.path.replaceAll(/\{\w+\}/g, text.replaceAll('\\', '%5c'));
      const sent: readonly (readonly [string, string | undefined])[] = [
        [inPath, undefined],
        [`/nothing/${encode(text)}`, undefined],
        [`${path}?key=${encode(text)}&${encode(text)}`, undefined],
        [path, `hostname=${encode(text)}&${encode(text)}=1`],
        [path, `firstname=${text}&zz=%zz`],
        [path, text],
        [path, JSON.stringify({ api: text })],
      ];
      const [url, body] = sent[place] ?? [path, undefined];
      const response = await sendTo(service, url, { method: operation.method, ...(body === undefined ? {} : { body }) });
      const left = await traces(service, response);
      expect(leaksOf([secretOf, encode(text), text], left)).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test('masks keys and tokens of others, which a caller sends in a wrong field, in every operation', async () => {
  const service = await startLogged();
  const { apiKey: other } = await service.account();
  const tokens = fc.constantFrom(other, newApiKey(systemRandom, 'live'), newVerifierToken(systemRandom), newOperatorToken(systemRandom));
  const written = tokens.chain((token) =>
    fc.tuple(fc.constant(token), fc.oneof(fc.constant(token), recoded(token), fc.constant(token.toUpperCase()))),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...apiOperations), written, fc.nat(6), async ({ operation }, [token, text], place) => {
      const path = operation.path.replaceAll(/\{\w+\}/g, 'example.net');
      const sent: readonly (readonly [string, string | undefined])[] = [
        [operation.path.replaceAll(/\{\w+\}/g, text), undefined],
        [`/nothing/${text}`, undefined],
        [`${path}?key=${text}&${text}`, undefined],
        [path, `hostname=${encode(text)}&${encode(text)}=1`],
        [path, `firstname=${text}&zz=%zz`],
        [path, text],
        [path, JSON.stringify({ api: text })],
      ];
      const [url, body] = sent[place] ?? [path, undefined];
      const response = await sendTo(service, url, { method: operation.method, ...(body === undefined ? {} : { body }) });
      const secret = token.slice(token.lastIndexOf('_') + 1);
      expect(leaksOf([secret, secret.slice(-8), text], await traces(service, response))).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test('masks a key in a field that is stored, such as the display name of an SSH key, in the request log', async () => {
  const service = await startLogged();
  const { apiKey: other } = await service.account();
  const form = { ...SMALL_VM, ssh_key_displayname: other };
  expect((await service.call('createVm', { form })).status).toBe(200);
  const { body } = await service.call('listRequests');
  expect(JSON.parse(body.data[0].request_body)).toMatchObject({ ssh_key_displayname: '***' });
});

test('keeps what is not secret readable', async () => {
  const service = await startLogged();
  await service.call('createVm', { form: { cores: 2, mem: 99, note: 'a=b', password: 'x'.repeat(8) } });
  const { body } = await service.call('listRequests');
  expect(JSON.parse(body.data[0].request_body)).toEqual({ cores: 2, mem: 99, note: 'a=b', password: '***' });
  expect(body.data[0].endpoint).toBe('/vm/create');
});

test('names the same secrets as the document, however they are written', () => {
  expect([...secretNames(document)].map(comparable).toSorted()).toEqual([
    'apikey',
    'authcode',
    'consoleurl',
    'document',
    'invoice',
    'otpcode',
    'password',
    'requestbody',
    'responsebody',
    'signingsecret',
    'userdata',
    'xml',
  ]);
});

/** Texts on which a pattern that tries again from each character would take seconds: one such request would stop the service. */
const slowTexts: readonly string[] = ['\\', '%5c', '%25', '&#0', 'r', '="', '"\\', 'a', '['].map((part) =>
  part.repeat(Math.floor(20_000 / encode(part).length)),
);

test('responds in time to forms that make its patterns slow', async () => {
  const service = await startLogged();
  for (const text of slowTexts) {
    const response = await sendTo(service, '/vm/create', { method: 'PUT', body: `hostname=a${encode(text)}&${encode(text)}=1` });
    expect(JSON.parse(response)).toMatchObject({ type: 'validation_failed' });
  }
});
