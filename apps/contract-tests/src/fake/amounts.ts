import { parseDocument } from '@reseller/contract';

const invoice = {
  type: 'object',
  required: ['total'],
  properties: { total: { type: 'number', multipleOf: 0.01 } },
};

/** A document that says how many decimals an amount has, for checks to which the reseller document gives nothing to look at. */
export const AMOUNTS = parseDocument({
  openapi: '3.1.0',
  info: { title: 'Amounts', version: '1' },
  paths: {
    '/invoice': {
      get: {
        operationId: 'getInvoice',
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
          401: { description: 'No key.' },
        },
      },
    },
  },
});
