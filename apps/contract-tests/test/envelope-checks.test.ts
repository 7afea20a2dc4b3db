import { parseDocument, readOperations } from '@reseller/contract';
import { readEnvelope, runContract } from '@reseller/contract/engine';
import { expect, test } from 'vitest';

import { resellerRules } from '../src/reseller.ts';
import { sendJson, startServer } from './raw-server.ts';

const ENVELOPE = {
  type: 'object',
  required: ['status', 'requestID', 'data'],
  properties: { status: { const: 'success' }, requestID: { type: 'string', format: 'uuid' }, data: {} },
};
const REFUSAL = { ...ENVELOPE, properties: { ...ENVELOPE.properties, status: { const: 'error' }, data: { type: 'null' } } };
const json = (schema: unknown): unknown => ({ 'application/json': { schema } });
const documentOf = (success: object, failure: object) =>
  parseDocument({
    openapi: '3.1.0',
    info: { title: 'Things', version: '1' },
    paths: {
      '/things': {
        get: {
          operationId: 'listThings',
          responses: { 200: { description: 'Things.', content: json(success) }, 404: { description: 'None.', content: json(failure) } },
        },
      },
    },
  });
const document = documentOf(ENVELOPE, REFUSAL);
const ID = '0192f672-7daa-7a31-9c02-6de1f0a47b58';

test.each<[string, number, unknown, string]>([
  ['lacks a part of the envelope', 418, { status: 'error' }, 'envelope-kept: the envelope lacks requestID, data'],
  ['is text in place of an object', 302, 'elsewhere', 'envelope-kept: the envelope lacks status, requestID, data'],
  [
    'has a payload',
    418,
    { status: 'error', requestID: ID, data: { trace: 'x' } },
    'envelope-kept: data is not null although the request failed',
  ],
])('a response with an undescribed status that %s is a violation', async (_, status, body, expected) => {
  const { url } = await startServer((__, response) => sendJson(response, status, body));
  const { findings } = await runContract({ document, target: url, extensions: resellerRules(document) });
  expect(findings.filter(({ verdict }) => verdict === 'violation').map(({ check, message }) => `${check}: ${message}`)).toEqual([expected]);
  const own = await runContract({ document, target: url });
  expect(own.findings.filter(({ check }) => check === 'envelope-kept')).toEqual([]);
});

test.each([404, 429, 503])('an undescribed %i is not a violation where only successes are described', async (status) => {
  const { url } = await startServer((_, response) => sendJson(response, status, { error: 'none' }));
  const success = { 200: { description: 'One.', content: json({ type: 'object', required: ['id'], properties: { id: {} } }) } };
  const given = parseDocument({
    openapi: '3.1.0',
    info: { title: 'Things', version: '1' },
    paths: { '/thing': { get: { operationId: 'getThing', responses: success } } },
  });
  const { findings } = await runContract({ document: given, target: url, extensions: resellerRules(given) });
  expect(findings.filter(({ check, verdict }) => check === 'envelope-kept' || (verdict === 'violation' && status < 500))).toEqual([]);
});

test('the envelope has the outcome, the first of two identifiers, and the data that failures do not have', () => {
  const withParent = ({ required, properties, ...schema }: typeof ENVELOPE) => ({
    ...schema,
    required: [...required, 'parentID'],
    properties: { ...properties, parentID: properties.requestID },
  });
  const described = documentOf(withParent(ENVELOPE), withParent(REFUSAL));
  expect(readEnvelope(described, readOperations(described))).toEqual({
    required: ['status', 'requestID', 'data', 'parentID'],
    outcome: { name: 'status', success: ['success'], failure: ['error'] },
    identifier: 'requestID',
    payload: 'data',
  });
});
