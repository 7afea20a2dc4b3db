import type { Check } from '../check.ts';
import { keyRemarks } from '../key-remarks.ts';

export const keyRequired: Check = {
  id: 'key-required',
  claim: 'No operation succeeds without an API key.',
  example: '`GET /orders` without `Authorization` returns 200.',
  judges:
    'Sends the request without its key. Success is a violation; 401 and 403 are correct. Another refusal is learned: the service validated the request before it checked the key. It says nothing about keys if the same request with the key of the account gets the same refusal. Requests to operations that change something have an identifier that does not exist, or no body, where that is possible.',
  client: 'None for users with a key. But anyone else can use the account.',
  needs: ['no-key', 'traffic'],
  applies: ({ security }) => security !== undefined && !security.optional,
  checkResponse(context) {
    const { sent, operation } = context.exchange;
    const isWithout = sent.purpose === 'no-key' || (sent.purpose === 'traffic' && sent.credential === 'none');
    return isWithout && operation.security?.optional === false ? keyRemarks(context, 'without an API key') : [];
  },
};
