import { isSuccess, jsonValue } from '../answer.ts';
import { answersJson } from '../applies.ts';
import type { Check, Subject } from '../check.ts';
import { verdictOf } from '../finding.ts';
import { isObject, member } from '../json.ts';
import { observe } from '../observe.ts';
import { tamperEnvelope } from '../tamper.ts';

export const statusAgrees: Check = {
  id: 'status-agrees',
  claim: 'The HTTP status and the status of the body say the same: no error in a success, no success in an error.',
  judges:
    'The property that tells is the one that is a constant in every described answer, another on success than on failure. A document without one is judged by which of its described answers the body fits.',
  client:
    'The client decides by the HTTP status whether it resolves with data or an error. A failure sent as 200 is handed to you as data, and a purchase that never happened looks like one that did.',
  undescribed: 'too',
  applies: answersJson,
  isFinal: true,
  look(subject) {
    const { answer, response, envelope, document, json } = subject;
    const value = jsonValue(answer);
    const isGood = isSuccess(answer.status);
    if (!isObject(value) || (!isGood && answer.status < 400)) return [];
    const { tells } = envelope;
    const said = tells === undefined ? undefined : member(value, tells.name);
    const disagrees =
      tells === undefined ? isGood && fitsError(subject, value) : isGood ? tells.failure.includes(said) : tells.success.includes(said);
    if (!disagrees) return [];
    const pointer = tells === undefined ? '' : `/${tells.name}`;
    return [
      {
        pointer,
        verdict: isGood ? verdictOf(response?.provenance ?? 'shown') : 'violation',
        message: `the HTTP status says ${isGood ? 'success' : 'failure'}, but the body says the opposite`,
        expected: `an HTTP status and a body that agree`,
        observed: `${answer.status} with ${json?.pointer === undefined ? 'a body of the other kind' : `${pointer} ${observe(document, json.pointer, value, pointer)}`}`,
        at: `${answer.operation.pointer}/responses`,
        rule: isGood ? 'error in a success' : 'success in an error',
      },
    ];
  },
  defect: {
    says: 'A failure is answered with status 200.',
    tamper: (exchange) => (exchange.operation?.readOnly === true ? tamperEnvelope(exchange, 200) : undefined),
  },
};

function fitsError({ answer, validator, json }: Subject, value: unknown): boolean {
  if (json?.pointer === undefined || validator.compile(json.pointer)(value).length === 0) return false;
  return Object.entries(answer.operation.responses).some(([status, { content }]) => {
    const pointer = content['application/json']?.pointer;
    return /^[45]/.test(status) && pointer !== undefined && validator.compile(pointer)(value).length === 0;
  });
}
