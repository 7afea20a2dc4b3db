import { isSuccess } from '../answer.ts';
import { takesForm } from '../applies.ts';
import type { Check } from '../check.ts';
import { verdictOf } from '../finding.ts';

export const formRefused: Check = {
  id: 'form-refused',
  claim: 'A form that breaks a rule of the document is refused.',
  judges:
    'Breaks one rule at a time of an example that is valid: a required field left out, a wrong type, a number below or above its limits, a text too short or too long, an unknown field, a field without the one that it needs. Any 4xx is a refusal.',
  client:
    'The type forbids what the service takes, or the service silently ignores what you misspelt: `netwrok_speed` costs you nothing and gives you nothing.',
  needs: ['invalid-form'],
  applies: takesForm,
  look({ answer: { operation, sent, status } }) {
    if (sent.purpose !== 'invalid-form' || !isSuccess(status)) return [];
    return [
      {
        pointer: '',
        verdict: verdictOf(operation.provenance),
        message: `a form that breaks a rule is accepted: ${sent.detail}`,
        expected: '4xx',
        observed: String(status),
        at: operation.form?.pointer ?? operation.pointer,
        rule: sent.detail,
      },
    ];
  },
  defect: {
    says: 'Forms are not validated.',
    tamper: ({ outcome, success }) => (outcome === 'invalid-form' ? success() : undefined),
  },
};
