import type { Check } from '../check.ts';
import { keyRemarks } from '../key-remarks.ts';

export const keyChecked: Check = {
  id: 'key-checked',
  claim: 'No operation succeeds with an API key that does not exist.',
  example: '`GET /orders` with `Authorization: Bearer made-up` returns 200.',
  judges: 'Sends the request with a made-up key, and decides as key-required does. Finds gateways that check only whether there is a key.',
  client: 'None for users with a valid key. But anyone else can use the account.',
  needs: ['wrong-key'],
  applies: ({ security }) => security !== undefined && !security.optional,
  checkResponse: (context) => (context.exchange.sent.purpose === 'wrong-key' ? keyRemarks(context, 'with a made-up API key') : []),
};
