import type { Check } from '../check.ts';
import { keyRemarks } from '../key-remarks.ts';

export const keyChecked: Check = {
  id: 'key-checked',
  claim: 'No operation succeeds with an API key that does not exist.',
  judges:
    'Sends the request with a key that was made up, and judges as key-required does. A gateway that only looks whether there is a key is found out here.',
  client: 'None for those who send their key. For everybody else: the account stands open.',
  needs: ['wrong-key'],
  applies: ({ security }) => security !== undefined && !security.optional,
  checkResponse: (context) =>
    context.exchange.sent.purpose === 'wrong-key' ? keyRemarks(context, 'with an API key that was made up') : [],
  defect: {
    description: 'A request with any key is served.',
    tamper: ({ outcome, key, operation, success }) =>
      outcome === 'unauthorized' && key === 'wrong' && operation?.readOnly === true ? success() : undefined,
  },
};
