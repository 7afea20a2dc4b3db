import { returnsJson } from '../applies.ts';
import type { Check, ResponseContext } from '../check.ts';
import { isSuccess, jsonValue } from '../exchange.ts';
import { verdictOf } from '../finding.ts';
import { shapeSchema } from '../infer.ts';
import { isObject, member } from '../json.ts';
import { observe } from '../observe.ts';
import { schemasOf } from '../observed.ts';
import { valueAt } from '../pointer.ts';
import type { Proposal } from '../proposal.ts';
import { tamperEnvelope } from '../tamper.ts';

export const statusAgrees: Check = {
  id: 'status-agrees',
  claim: 'The HTTP status and the status of the body say the same: no error in a success, no success in an error.',
  judges:
    'The property that tells is the one that is a constant in every described response, another on success than on failure. A document without one is judged by which of its described responses the body fits.',
  client:
    'The client decides by the HTTP status whether it resolves with data or an error. A failure sent as 200 is handed to you as data, and a purchase that never happened looks like one that did.',
  undescribed: 'also',
  applies: returnsJson,
  isFinal: true,
  checkResponse(context) {
    const { exchange, response, envelope, document, json } = context;
    const value = jsonValue(exchange);
    const isGood = isSuccess(exchange.status);
    if (!isObject(value) || (!isGood && exchange.status < 400)) return [];
    const { outcome } = envelope;
    const said = outcome === undefined ? undefined : member(value, outcome.name);
    const disagrees =
      outcome === undefined
        ? isGood && fitsError(context, value)
        : isGood
          ? outcome.failure.includes(said)
          : outcome.success.includes(said);
    // The document may allow it: it may say that a success can carry a failure.
    if (!disagrees || (isGood && json?.pointer !== undefined && context.issues().length === 0)) return [];
    const pointer = outcome === undefined ? '' : `/${outcome.name}`;
    return [
      {
        pointer,
        verdict: isGood ? verdictOf(response?.provenance ?? 'shown') : 'violation',
        message: `the HTTP status says ${isGood ? 'success' : 'failure'}, but the body says the opposite`,
        expected: `an HTTP status and a body that agree`,
        observed: `${exchange.status} with ${json?.pointer === undefined ? 'a body of the other kind' : `${pointer} ${observe(document, json.pointer, value, pointer)}`}`,
        at: `${exchange.operation.pointer}/responses`,
        rule: isGood ? 'error in a success' : 'success in an error',
        proposal:
          isGood && response !== undefined && response.provenance !== 'shown' && json?.pointer !== undefined
            ? alternative(context, json.pointer)
            : undefined,
      },
    ];
  },
  defect: {
    description: 'A failure has the status 200.',
    tamper: (exchange) => (exchange.operation?.readOnly === true ? tamperEnvelope(exchange, 200) : undefined),
  },
};

function fitsError({ exchange, validator, json }: ResponseContext, value: unknown): boolean {
  if (json?.pointer === undefined || validator.compile(json.pointer)(value).length === 0) return false;
  return failureSchema({ exchange, validator }, value) !== undefined;
}

/** The schema of a failure of the operation that a body fits. */
function failureSchema({ exchange, validator }: Pick<ResponseContext, 'exchange' | 'validator'>, value: unknown): string | undefined {
  return schemasOf(exchange, (status) => /^[45]/.test(status)).find((pointer) => validator.compile(pointer)(value).length === 0);
}

/** The success may be the failure that it carries, too. */
function alternative(context: ResponseContext, at: string): Proposal {
  const value = jsonValue(context.exchange);
  const pointer = failureSchema(context, value);
  const written = pointer === undefined ? undefined : valueAt(context.document, pointer);
  return { kind: 'add-alternative', at, value: isObject(written) ? written : shapeSchema(value) };
}
