import { verdictOf, type AnswerCheck } from '../finding.ts';

export const bodyReadable: AnswerCheck = {
  id: 'body-readable',
  claim: 'Where the document describes JSON, the body is JSON.',
  isFinal: true,
  look({ answer, response, json }) {
    if (response === undefined || json === undefined || answer.body.kind === 'json') return [];
    return [
      {
        pointer: '',
        verdict: verdictOf(response.provenance),
        message: 'the body is not the JSON that the document describes',
        expected: 'JSON',
        observed: answer.body.kind === 'empty' ? 'an empty body' : answer.body.problem,
        rule: 'body',
      },
    ];
  },
};
