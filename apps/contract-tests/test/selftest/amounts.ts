import { parseDocument } from '@reseller/contract';

const invoice = {
  type: 'object',
  required: ['total'],
  properties: { total: { type: 'number', multipleOf: 0.01 } },
};

/** A document with amounts and a query parameter, for checks that do not apply to the reseller document. */
export const AMOUNTS = parseDocument({
  openapi: '3.1.0',
  info: { title: 'Amounts', version: '1' },
  paths: {
    '/invoice': {
      get: {
        operationId: 'getInvoice',
        parameters: [{ name: 'month', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 12 } }],
        responses: {
          200: {
            description: 'The invoice.',
            content: {
              'application/json': {
                schema: { type: 'object', required: ['data'], properties: { data: invoice } },
                examples: { one: { value: { data: { total: 19.99 } } } },
              },
            },
          },
          400: { description: 'A query parameter that breaks a rule.' },
          401: { description: 'No key.' },
        },
      },
    },
  },
});
