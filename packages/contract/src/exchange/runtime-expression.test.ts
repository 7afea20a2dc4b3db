import { expect, test } from 'vitest';

import { readOperations } from '../document/operations.ts';
import { readExchange } from './exchange.ts';
import { evaluate } from './runtime-expression.ts';

const form = { type: 'object', properties: { domain: { type: 'string' }, years: { type: 'integer' } } };
const [operation] = readOperations({
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  paths: {
    '/shop/{shop}/order': {
      parameters: [{ name: 'shop', in: 'path', required: true, schema: { type: 'string' } }],
      post: {
        operationId: 'order',
        requestBody: { content: { 'application/x-www-form-urlencoded': { schema: form } } },
        responses: { 201: { description: 'ok' } },
      },
    },
  },
});

test.each([
  ['$response.body#/data/0/id', 'x-7'],
  ['$response.body#/data/0/price', 4.2],
  ['$response.body#/nothing', undefined],
  ['$response.header.Location', '/orders/7'],
  ['$response.header.X-None', undefined],
  ['$request.path.shop', 'north & south'],
  ['$request.path.other', undefined],
  ['$request.query.page', '3'],
  ['$request.body#/domain', 'a.example'],
  ['$request.body#/years', 2],
  ['$request.header.X-Trace', 't-1'],
  ['$method', 'POST'],
  ['$statusCode', 201],
  ['$url', 'https://api.example/v1/shop/north%20%26%20south/order?page=3'],
  ['$request.nonsense', undefined],
  ['$response.path.shop', undefined],
  ['order-{$response.body#/data/0/id}-of-{$request.query.page}', 'order-x-7-of-3'],
  ['order-{$response.body#/nothing}', undefined],
  ['order-{$response.body#/nothing}-of-{$request.query.page}', undefined],
  ['always', 'always'],
])('%s', (expression, value) => {
  if (operation === undefined) throw new Error('The document has no operation.');
  const sent = {
    method: 'POST',
    url: 'https://api.example/v1/shop/north%20%26%20south/order?page=3',
    headers: { 'x-trace': 't-1' },
    body: 'domain=a.example&years=2',
    credential: 'account',
    purpose: 'call',
    detail: '',
    at: '',
  } as const;
  const bytes = new TextEncoder().encode(JSON.stringify({ data: [{ id: 'x-7', price: 4.2 }] }));
  const exchange = readExchange(operation, sent, { status: 201, headers: { location: '/orders/7' }, bytes, milliseconds: 1 });
  expect(evaluate(exchange, expression)).toEqual(value);
});
