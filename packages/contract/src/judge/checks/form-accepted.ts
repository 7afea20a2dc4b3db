import { mediaTypeName } from '../../document/media-type.ts';
import type { Operation } from '../../document/operation.ts';
import { isPlainCall, isSuccess } from '../../exchange/exchange.ts';
import type { Exchange, Purpose } from '../../exchange/exchange.ts';
import { needsNoField, readBody } from '../../form/body.ts';
import { isMultipart } from '../../form/multipart.ts';
import type { Assertion } from '../assertion.ts';
import type { Check } from '../check.ts';
import { verdictOf } from '../finding.ts';
import type { RunRemark } from '../finding.ts';
import { isKnownFor, occasionProposal } from '../observed.ts';

/** Refusals because of state, credit or rate say nothing about the body. */
const ACCEPTED: Assertion = { kind: 'status', pattern: '^(?!400|413|415|422)' };

export const formAccepted: Check = {
  id: 'form-accepted',
  claim: 'The service accepts a valid body.',
  example: 'The document has the example `{"plan": "pro"}` for `PATCH /customer`, and the service refuses it with 422.',
  judges:
    'Sends the examples of the document, with identifiers that exist. 400, 413, 415 and 422 contradict the document; refusals because of state, credit, capacity or rate do not. A refusal of a body generated from the schema is unverified, because the service may apply a rule that no schema can express. Where no field is required, it is a violation if the service refuses every body with a field, and a field that got only invalid values is unverified.',
  client: 'Your code compiles and the call fails, because the type allows a value that the service refuses.',
  needs: ['call', 'valid-form', 'next-page'],
  applies: ({ body }) => body !== undefined,
  checkResponse(context) {
    const { operation, sent, status } = context.exchange;
    const isValid = sent.purpose === 'valid-form' || sent.purpose === 'call' || sent.purpose === 'next-page';
    if (!isValid || operation.body === undefined || ![400, 413, 415, 422].includes(status)) return [];
    if (isKnownFor(context.document, context.response, 'x-for-valid-form')) return [];
    // The type of a file is made up, unless the document names it.
    const isType = status === 415 && !isMultipart(operation.body);
    const isMadeUp = sent.isMadeUp === true && !isType;
    return [
      {
        pointer: '',
        verdict: isMadeUp ? 'unverified' : verdictOf(operation.provenance),
        message: isType
          ? `the service refuses the described media type ${operation.body.mediaType}`
          : isMadeUp
            ? 'the service refuses a body generated from the schema'
            : 'the service refuses a valid body',
        expected: 'success',
        observed: `${status} for ${sent.detail || 'the first valid body'}`,
        at: operation.body.pointer,
        rule: isType ? `refused ${operation.body.mediaType}` : 'refused',
        assertion: ACCEPTED,
        proposal: operation.provenance === 'shown' || isMadeUp ? undefined : occasionProposal(context, 'x-for-valid-form'),
      },
    ];
  },
  checkRun: ({ exchanges }) => [
    ...[...Map.groupBy(exchanges, ({ operation }) => operation)].flatMap(([operation, all]) => untried(operation, all)),
    ...[...Map.groupBy(exchanges, ({ operation }) => operation.id).values()].flatMap(unsentTypes),
  ],
};

/** The described media types of a body that no request had. */
function unsentTypes(exchanges: readonly Exchange[]): readonly RunRemark[] {
  const call = exchanges.find(({ sent }) => sent.purpose === 'call' && sent.body !== undefined);
  if (call === undefined) return [];
  const sentTypes = new Set(exchanges.map(({ sent }) => mediaTypeName(sent.headers['content-type'] ?? '')));
  const unsent = (call.operation.bodyTypes ?? []).filter((type) => !type.includes('*') && !sentTypes.has(type));
  return unsent.map((type) => ({
    exchange: call,
    pointer: '',
    verdict: 'unverified',
    message: `a body of the type ${type} was not sent`,
    expected: 'success',
    observed: 'no such request',
    at: call.operation.body?.pointer ?? call.operation.pointer,
    rule: `not sent ${type}`,
  }));
}

const PLAIN: ReadonlySet<Purpose> = new Set(['call', 'valid-form', 'next-page']);
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** The fields of a body without required fields that got invalid values, but were in no accepted request. */
function untried(operation: Operation, exchanges: readonly Exchange[]): readonly RunRemark[] {
  const { body } = operation;
  if (body === undefined || !needsNoField(body)) return [];
  function given({ sent }: Exchange): readonly string[] {
    return Object.keys(readBody(operation, sent.body ?? '').values);
  }
  const plain = exchanges.filter((one) => isPlainCall(one) && one.sent.credential === 'account' && given(one).length > 0);
  const accepted = new Set(plain.filter(({ status }) => isSuccess(status)).flatMap(given));
  const refused = plain.filter(({ status }) => REFUSALS.has(status));
  // Some fields exclude each other, which a schema does not always say. So a field alone must have been refused.
  const first = refused.find((one) => given(one).length === 1);
  // A refusal of a body of the document is a finding already.
  const isKnown = exchanges.some(({ sent, status }) => PLAIN.has(sent.purpose) && sent.isMadeUp !== true && REFUSALS.has(status));
  if (first !== undefined && !isKnown && accepted.size === 0 && refused.length === plain.length)
    return [
      {
        exchange: first,
        pointer: '',
        verdict: verdictOf(operation.provenance),
        message: 'the service refuses every valid body that has a field',
        expected: 'success',
        observed: `${[...new Set(refused.map(({ status }) => status))].join(', ')} for ${[...new Set(refused.flatMap(given))].join(', ')}`,
        at: body.pointer,
        rule: 'all refused',
        assertion: ACCEPTED,
      },
    ];
  const invalid = exchanges.filter(({ sent }) => sent.purpose === 'invalid-form');
  return [...body.fields.values()].flatMap(({ name, pointer }): readonly RunRemark[] => {
    const exchange = invalid.find((one) => one.sent.detail.startsWith(`${name} `));
    if (exchange === undefined || accepted.has(name)) return [];
    return [
      {
        exchange,
        pointer: `/${name}`,
        verdict: 'unverified',
        message: `the field ${name} got invalid values, but no accepted request had a valid one`,
        expected: `success with a valid ${name}`,
        observed: plain.some((one) => given(one).includes(name)) ? 'refusals' : 'no such request',
        at: pointer,
        rule: 'untried',
      },
    ];
  });
}
