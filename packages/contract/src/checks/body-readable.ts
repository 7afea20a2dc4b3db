import { answersJson } from '../applies.ts';
import type { Check } from '../check.ts';
import { verdictOf } from '../finding.ts';

export const bodyReadable: Check = {
  id: 'body-readable',
  claim: 'Where the document describes JSON, the body is JSON in UTF-8.',
  judges: 'Reads the whole body, whatever its label says. Answers to HEAD have none.',
  client: 'The client throws a parse error instead of the described error, and the HTTP status is easily lost with it.',
  applies: answersJson,
  isFinal: true,
  look({ answer, response, json }) {
    if (response === undefined || json === undefined || answer.body.kind === 'json' || answer.sent.method === 'HEAD') return [];
    return [
      {
        pointer: '',
        verdict: verdictOf(response.provenance),
        message: 'the body is not the JSON that the document describes',
        expected: 'JSON',
        observed: answer.body.kind === 'empty' ? 'an empty body' : answer.body.problem,
        at: `${response.holder}/content`,
        rule: 'body',
      },
    ];
  },
  defect: {
    says: 'A sign-in page is answered in place of JSON, with the label of JSON.',
    tamper: ({ outcome, answer }) => (outcome === 'success' ? { ...answer, body: '<html><body>Please sign in</body></html>' } : undefined),
  },
};
