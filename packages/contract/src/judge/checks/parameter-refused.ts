import { isCredential, isIgnorable, isSpread, issuesOfText, hasListOrObject } from '../../document/parameters.ts';
import { provenanceOfIssue } from '../../document/place.ts';
import type { Provenance } from '../../document/provenance.ts';
import { isSuccess } from '../../exchange/exchange.ts';
import { parameterText } from '../../exchange/runtime-expression.ts';
import { takesParameters } from '../applies.ts';
import { REFUSED } from '../assertion.ts';
import type { Check, ResponseContext } from '../check.ts';
import { verdictOf } from '../finding.ts';
import { isKnownFor, occasionProposal } from '../observed.ts';
import type { Proposal } from '../proposal.ts';
import { proposalFor } from '../propose.ts';

export const parameterRefused: Check = {
  id: 'parameter-refused',
  claim: 'The service refuses an invalid parameter.',
  example: '`limit` has `maximum: 100`, and `GET /orders?limit=101` returns 200.',
  judges:
    'Sends requests in which one parameter of the query, the headers, the cookies or the path breaks one rule, to read operations and, in a full run, to changes that cost no money: a missing required parameter, a word instead of a number, a number outside its limits, a string that is too short, too long, not ASCII or against its pattern, or a value outside its list. Any 4xx is a refusal. Does not send unknown parameters, because OpenAPI cannot forbid them.',
  client:
    'The service silently returns something other than what your code requested, such as a page of another size or an unfiltered list.',
  needs: ['invalid-parameter', 'traffic'],
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
};

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
