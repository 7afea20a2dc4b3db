/** Every field and parameter of the operator API that takes an instant refuses a leap second, which the time of a computer does not have. */
import { valueAt } from '@reseller/contract';
import { expect, test } from 'vitest';

import { startOperator } from '../../../test/operator.ts';
import { operatorDocument } from '../../operator/document.ts';
import { operatorApi } from './api.ts';

const LEAP_SECOND = '2027-06-30T23:59:60Z';
const ANY_ID = '01900000-0000-7000-8000-000000000000';

/** The schema without references. */
function resolved(schema: unknown): Readonly<Record<string, unknown>> {
  const { $ref, ...own }: Readonly<Record<string, unknown>> = Object(schema);
  return typeof $ref === 'string' ? { ...resolved(valueAt(operatorDocument, $ref.slice(1))), ...own } : own;
}

function isInstant(schema: unknown): boolean {
  const { format, anyOf, oneOf, allOf } = resolved(schema);
  return format === 'date-time' || [anyOf, oneOf, allOf].some((parts) => Array.isArray(parts) && parts.some(isInstant));
}

const fields = operatorApi.flatMap(({ id, operation }) => {
  const body = resolved(valueAt(operatorDocument, `${operation.pointer}/requestBody/content/application~1json/schema`));
  return Object.entries(Object(body['properties']))
    .filter(([, schema]) => isInstant(schema))
    .map(([field]) => ({ id, operation, field }));
});

const parameters = operatorApi.flatMap(({ id, operation }) =>
  operation.parameters.filter(({ schema }) => isInstant(schema)).map(({ name, in: place }) => ({ id, operation, name, place })),
);

test('a leap second is refused in every field and parameter of an instant', async () => {
  expect(fields.length).toBeGreaterThanOrEqual(8);
  expect(parameters.length).toBeGreaterThanOrEqual(4);
  const service = await startOperator();
  const pathOf = (path: string, named: object) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(Object(named)[name] ?? ANY_ID));
  for (const { id, operation, field } of fields) {
    const body = JSON.stringify({ [field]: LEAP_SECOND });
    const headers = { 'content-type': 'application/json', 'if-match': '*' };
    const answer = await service.operate(pathOf(operation.path, {}), { method: operation.method, body, headers });
    const problem: { errors?: { pointer: string; detail: string }[] } = Object(answer.body);
    expect
      .soft([id, answer.status, problem.errors?.find(({ pointer }) => pointer === `#/${field}`)?.detail])
      .toEqual([id, 422, expect.stringContaining('an instant that exists')]);
  }
  for (const { id, operation, name, place } of parameters) {
    const path = pathOf(operation.path, { [name]: LEAP_SECOND });
    const query = place === 'query' ? `?${name}=${encodeURIComponent(LEAP_SECOND)}` : '';
    expect.soft([id, (await service.operate(path + query, { method: operation.method })).status]).toEqual([id, 400]);
  }
});
