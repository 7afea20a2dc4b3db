import type { AnswerCheck } from '../finding.ts';

export const statusDocumented: AnswerCheck = {
  id: 'status-documented',
  claim: 'The document describes the HTTP status of the answer.',
  isFinal: false,
  look({ answer, response }) {
    if (response !== undefined) return [];
    return [
      {
        pointer: '',
        verdict: 'discovered',
        message: `the document does not describe the status ${answer.status}`,
        expected: Object.keys(answer.operation.responses).join(', '),
        observed: String(answer.status),
        rule: 'status',
      },
    ];
  },
};
