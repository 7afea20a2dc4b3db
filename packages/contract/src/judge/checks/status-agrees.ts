import { isObject, member } from '../../document/json.ts';
import { valueAt } from '../../document/pointer.ts';
import { rootView } from '../../document/view.ts';
import { isSuccess, jsonValue } from '../../exchange/exchange.ts';
import { observe } from '../../exchange/observe.ts';
import { returnsJson } from '../applies.ts';
import type { Check, ResponseContext } from '../check.ts';
import { verdictOf } from '../finding.ts';
import { shapeSchema } from '../infer.ts';
import { schemasOf } from '../observed.ts';
import type { Proposal } from '../proposal.ts';

export const statusAgrees: Check = {
  id: 'status-agrees',
  claim: 'The HTTP status and the body agree on success or failure.',
  example: 'A response with the status 200 has `"status": "error"` in its envelope.',
  judges:
    'Uses the property that is a constant in every described response, with different values for success and failure. For a document without such a property, a body is that of a failure if it matches a described failure with required properties and has no property that only the success describes.',
  client:
    'The client uses the HTTP status to decide between data and an error. It returns a failure with the status 200 as data, so that a failure looks like a success.',
  undescribed: 'also',
  // The checks after this one compare the body with the schema of a success, from which all of it differs.
  isFinal: true,
  applies: returnsJson,
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
    // The document may describe a failure in the body of a success.
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
        assertion: outcome === undefined ? undefined : { kind: 'agreement', pointer, success: outcome.success },
        proposal:
          isGood && response !== undefined && response.provenance !== 'shown' && json?.pointer !== undefined
            ? alternative(context, json.pointer)
            : undefined,
      },
    ];
  },
};

function fitsError({ document, exchange, validator, json }: ResponseContext, value: unknown): boolean {
  if (json?.pointer === undefined || validator.compile(json.pointer)(value).length === 0) return false;
  const failure = failureSchema({ exchange, validator }, value);
  if (failure === undefined) return false;
  const [success, failed] = [rootView(document, json.pointer), rootView(document, failure)];
  const required = failed.nodes.flatMap(({ schema }) => (Array.isArray(schema['required']) ? schema['required'] : []));
  return required.length > 0 && !Object.keys(Object(value)).some((name) => success.member(name).isNamed && !failed.member(name).isNamed);
}

/** The schema of the first described failure of the operation that a body matches. */
function failureSchema({ exchange, validator }: Pick<ResponseContext, 'exchange' | 'validator'>, value: unknown): string | undefined {
  return schemasOf(exchange, (status) => /^[45]/.test(status)).find((pointer) => validator.compile(pointer)(value).length === 0);
}

/** Proposes to allow the failure as an alternative body of the success. */
function alternative(context: ResponseContext, at: string): Proposal {
  const value = jsonValue(context.exchange);
  const pointer = failureSchema(context, value);
  const written = pointer === undefined ? undefined : valueAt(context.document, pointer);
  return { kind: 'add-alternative', at, value: isObject(written) ? written : shapeSchema(value) };
}
