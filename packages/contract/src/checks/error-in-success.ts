import { isSuccess, jsonOf } from '../answer.ts';
import { verdictOf, type AnswerCheck, type Subject } from '../finding.ts';
import { shapeOf } from '../observe.ts';

export const errorInSuccess: AnswerCheck = {
  id: 'error-in-success',
  claim: 'An answer with a success status does not carry what the document describes as an error.',
  isFinal: true,
  look(subject) {
    const { answer, response, json, validator } = subject;
    if (!isSuccess(answer.status) || response === undefined || json?.pointer === undefined || answer.body.kind !== 'json') return [];
    if (validator.compile(json.pointer)(answer.body.value).length === 0) return [];
    const status = errorThatFits(subject, answer.body.value);
    if (status === undefined) return [];
    return [
      {
        pointer: '',
        verdict: verdictOf(response.provenance),
        message: `the status ${answer.status} says success, but the body is what the document describes for the error ${status}`,
        expected: response.description,
        observed: shapeOf(answer.body.value),
        rule: 'error',
      },
    ];
  },
};

function errorThatFits({ answer, validator }: Subject, value: unknown): string | undefined {
  for (const [status, response] of Object.entries(answer.operation.responses)) {
    const pointer = jsonOf(response)?.pointer;
    if (/^[45]/.test(status) && pointer !== undefined && validator.compile(pointer)(value).length === 0) return status;
  }
  return undefined;
}
