import type { OpenApiDocument } from '../../document/document.ts';
import type { Parameter } from '../../document/operation.ts';
import { hasListOrObject, isCredential, isIgnorable, isSpread, isSpreadName, issuesOfText } from '../../document/parameters.ts';
import { provenanceOfIssue } from '../../document/place.ts';
import type { Provenance } from '../../document/provenance.ts';
import { isPlainCall, isSuccess } from '../../exchange/exchange.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { parameterText } from '../../exchange/runtime-expression.ts';
import { takesParameters } from '../applies.ts';
import { REFUSED } from '../assertion.ts';
import type { Check, ResponseContext } from '../check.ts';
import { verdictOf } from '../finding.ts';
import type { RunRemark } from '../finding.ts';
import { isKnownFor, occasionProposal } from '../observed.ts';
import type { Proposal } from '../proposal.ts';
import { proposalFor } from '../propose.ts';

export const parameterRefused: Check = {
  id: 'parameter-refused',
  claim: 'The service refuses an invalid parameter.',
  example: '`limit` has `maximum: 100`, and `GET /orders?limit=101` returns 200.',
  judges:
    'Sends requests in which one parameter of the query, the headers, the cookies or the path breaks one rule, to read operations and, in a full run, to changes that cost no money: a missing required parameter, a word instead of a number, a number outside its limits, a string that is too short, too long, not ASCII or against its pattern, or a value outside its list. Any 4xx is a refusal. A full run sends valid values, too; a parameter with which every request is refused is unverified. Does not send unknown parameters, because OpenAPI cannot forbid them.',
  client:
    'The service silently returns something other than what your code requested, such as a page of another size or an unfiltered list.',
  needs: ['invalid-parameter', 'traffic', 'valid-form'],
  applies: takesParameters,
  checkResponse(context) {
    const { sent, status } = context.exchange;
    if ((sent.purpose !== 'invalid-parameter' && sent.purpose !== 'traffic') || !isSuccess(status)) return [];
    if (isKnownFor(context.document, context.response, 'x-for-invalid-form')) return [];
    const broken = brokenRule(context);
    // An earlier proposal has removed the rule from the document.
    if (broken === undefined) return [];
    // In recorded traffic, request-described reports rules that are only assumed.
    if (sent.purpose === 'traffic' && broken.provenance !== 'shown') return [];
    const detail = sent.detail === '' ? broken.detail : sent.detail;
    return [
      {
        pointer: '',
        verdict: verdictOf(broken.provenance),
        message: `the service accepts an invalid parameter: ${detail}`,
        expected: '4xx',
        observed: String(status),
        at: broken.at,
        // Several values can break the same rule of a parameter.
        rule: broken.detail,
        assertion: REFUSED,
        proposal: broken.provenance === 'shown' ? undefined : (broken.proposal ?? occasionProposal(context, 'x-for-invalid-form')),
      },
    ];
  },
  checkRun: ({ document, exchanges }) =>
    [...Map.groupBy(exchanges, ({ operation }) => operation)].flatMap(([operation, all]) =>
      operation.parameters.flatMap((parameter) => neverAccepted(document, parameter, all)),
    ),
};

/** A parameter with valid values, with which the service refused every request. Other parameters of the requests can be the reason. */
function neverAccepted(document: OpenApiDocument, parameter: Parameter, exchanges: readonly Exchange[]): readonly RunRemark[] {
  if (parameter.in === 'path' || exchanges[0] === undefined || isCredential(exchanges[0].operation, parameter)) return [];
  const given = exchanges.filter(
    (exchange) => isPlainCall(exchange) && exchange.sent.credential === 'account' && hasParameter(document, parameter, exchange),
  );
  const refused = given.find(({ sent, status }) => sent.purpose === 'valid-form' && (status === 400 || status === 422));
  if (refused === undefined || given.some(({ status }) => isSuccess(status))) return [];
  return [
    {
      exchange: refused,
      pointer: '',
      verdict: 'unverified',
      message: `the service refuses every request with the ${parameter.in} parameter ${parameter.name}`,
      expected: `success with a valid ${parameter.name}`,
      observed: `${refused.status} for ${refused.sent.detail}`,
      at: parameter.holder,
      rule: 'never accepted',
    },
  ];
}

function hasParameter(document: OpenApiDocument, parameter: Parameter, exchange: Exchange): boolean {
  if (!isSpread(document, parameter)) return parameterText(exchange, parameter) !== undefined;
  return [...new URL(exchange.sent.url).searchParams.keys()].some((name) => isSpreadName(document, parameter, name));
}

interface Broken {
  readonly at: string;
  readonly provenance: Provenance;
  readonly detail: string;
  readonly proposal: Proposal | undefined;
}

/** The rule of the document that the parameters of the request break. */
function brokenRule({ document, validator, exchange }: ResponseContext): Broken | undefined {
  const { operation } = exchange;
  for (const parameter of operation.parameters) {
    const { pointer, provenance, required } = parameter;
    if (pointer === undefined || isCredential(operation, parameter) || isIgnorable(parameter)) continue;
    if (isSpread(document, parameter)) continue;
    const text = parameterText(exchange, parameter);
    if (text === undefined) {
      if (required)
        return { at: pointer, provenance, detail: `without the required ${parameter.in} parameter ${parameter.name}`, proposal: undefined };
      continue;
    }
    if (hasListOrObject(document, parameter)) continue;
    const [issue] = issuesOfText(validator.compile(pointer), text);
    if (issue !== undefined)
      return {
        at: issue.schemaPath === '' ? pointer : issue.schemaPath,
        provenance: provenanceOfIssue(document, { pointer, provenance }, text, issue),
        detail: `the ${parameter.in} parameter ${parameter.name} ${issue.message}`,
        proposal: proposalFor(issue, text),
      };
  }
  return undefined;
}
