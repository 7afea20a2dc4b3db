import type { Check } from '../check.ts';
import { keyRemarks } from '../key-remarks.ts';

export const keyRequired: Check = {
  id: 'key-required',
  claim: 'No operation succeeds without an API key.',
  judges:
    'Sends the request without its key. Success is a violation; 401 or 403 is as it should be. Another refusal is learned: the service looked at the request before it looked for the key. Operations that change something are asked in a way that would change nothing: with an identifier that does not exist, or without the form.',
  client: 'None for those who send the key. For everybody else: the account stands open.',
  needs: ['no-key', 'traffic'],
  applies: ({ security }) => security !== undefined && !security.optional,
  checkResponse(context) {
    const { sent, operation } = context.exchange;
    const isWithout = sent.purpose === 'no-key' || (sent.purpose === 'traffic' && sent.credential === 'none');
    return isWithout && operation.security?.optional === false ? keyRemarks(context, 'without an API key') : [];
  },
  defect: {
    description: 'A request without a key is served.',
    tamper: ({ outcome, key, operation, success }) =>
      outcome === 'unauthorized' && key === 'none' && operation?.readOnly === true ? success() : undefined,
  },
};
