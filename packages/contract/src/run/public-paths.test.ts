import { createServer } from 'node:http';

import { expect, onTestFinished, test } from 'vitest';

import { parseDocument } from '../document/document.ts';
import { toHar } from '../report/har.ts';
import { runContract } from './run.ts';

const ID = '4d8e2b71-0c5f-4a96-9e13-b7a25f60d8c4';
const object = (properties: object) => ({
  200: { description: 'Fine.', content: { 'application/json': { schema: { type: 'object', properties } } } },
});

test('shows the paths that a log of requests lists, and keeps the URLs of a report whole', async () => {
  const server = createServer((request, response) => {
    const data = request.url === '/log' ? { path: `/accounting/invoices/${ID}` } : { total: 1 };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(data));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const target = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  const document = parseDocument({
    openapi: '3.1.0',
    info: { title: 'Log', version: '1' },
    paths: {
      '/log': { get: { operationId: 'readLog', responses: object({ path: { type: 'string' } }) } },
      '/accounting/invoices/{id}': {
        get: {
          operationId: 'getInvoice',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' }, example: ID }],
          responses: object({ total: { type: 'integer' } }),
        },
      },
    },
  });
  const report = await runContract({ document, target: new URL(target), apiKey: 'key-of-the-test', mode: 'read-only' });
  expect(report.traffic.map(({ url }) => url)).toContain(`${target}/accounting/invoices/${ID}`);
  expect(toHar(report)).toContain(`${target}/accounting/invoices/${ID}`);
});
