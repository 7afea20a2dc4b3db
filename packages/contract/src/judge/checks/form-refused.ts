import type { Issue } from '../../document/issues.ts';
import { provenanceOfIssue } from '../../document/place.ts';
import { joinPointer, valueAt } from '../../document/pointer.ts';
import type { Provenance } from '../../document/provenance.ts';
import { isSuccess } from '../../exchange/exchange.ts';
import { readBody } from '../../form/body.ts';
import { takesBody } from '../applies.ts';
import { REFUSED } from '../assertion.ts';
import type { Check, ResponseContext } from '../check.ts';
import { verdictOf } from '../finding.ts';
import { isKnownFor, occasionProposal } from '../observed.ts';
import type { Proposal } from '../proposal.ts';
import { proposalFor } from '../propose.ts';

export const formRefused: Check = {
  id: 'form-refused',
  claim: 'The service refuses an invalid body.',
  example: '`cores` has `minimum: 1`, and the service accepts `cores=0` with 200.',
  judges:
    'Changes a valid form or JSON body so that it breaks one rule: a missing required field, a wrong type, a number outside its limits, a string that is too short, too long or not ASCII, a value outside its list, an unknown field, or a field without another that it depends on. Any 4xx is a refusal. In recorded traffic, reports every invalid body that the service accepted.',
  client:
    'The type forbids a value that the service accepts, or the service silently ignores a misspelt field: you get the default and no error.',
  needs: ['invalid-form', 'traffic'],
  applies: takesBody,
  checkResponse(context) {
    const { operation, sent, status } = context.exchange;
    const isJudged = sent.purpose === 'invalid-form' || sent.purpose === 'traffic';
    if (
      !isJudged ||
      operation.body === undefined ||
      !isSuccess(status) ||
      isKnownFor(context.document, context.response, 'x-for-invalid-form')
    )
      return [];
    const broken = brokenRule(context);
    // An earlier proposal has removed the rule from the document.
    if (broken === undefined) return [];
    // In recorded traffic, request-described reports rules that are only assumed.
    if (sent.purpose === 'traffic' && broken.provenance !== 'shown') return [];
    const proposal = broken.provenance === 'shown' ? undefined : proposalOf(context, broken);
    // An operation that does not validate at all is one cause.
    if (sent.purpose === 'invalid-form' && acceptsAll(context))
      return [
        {
          pointer: '',
          verdict: verdictOf(broken.provenance),
          message: 'the service accepts every invalid body',
          expected: '4xx',
          observed: `${status} for ${sent.detail}`,
          at: operation.body.pointer,
          cause: operation.pointer,
          rule: 'every invalid body',
          assertion: REFUSED,
          proposal,
        },
      ];
    // A service that converts types does so in all of its bodies.
    const [field = '', wrongType = ''] = sent.detail.split(' as ', 2);
    if (wrongType.startsWith('a ') && wrongType.includes(' instead of '))
      return [
        {
          pointer: joinPointer('', field),
          verdict: verdictOf(broken.provenance),
          message: `the service accepts an invalid body: ${wrongType}`,
          expected: '4xx',
          observed: `${status} for ${field}`,
          at: operation.body.pointer,
          rule: wrongType,
          cause: 'type',
          assertion: REFUSED,
          proposal,
        },
      ];
    return [
      {
        pointer: '',
        verdict: verdictOf(broken.provenance),
        message: `the service accepts an invalid body: ${sent.detail === '' ? `${broken.issue.path.slice(1) || 'it'} ${broken.issue.message}` : sent.detail}`,
        expected: '4xx',
        observed: String(status),
        at: operation.body?.pointer ?? operation.pointer,
        rule: sent.detail === '' ? `${broken.issue.path} ${broken.issue.keyword}` : sent.detail,
        assertion: REFUSED,
        proposal,
      },
    ];
  },
};

/** Whether the service accepted each invalid body of an operation, of several. */
function acceptsAll({ exchange, exchanges }: ResponseContext): boolean {
  const invalid = exchanges.filter(({ operation, sent }) => operation.id === exchange.operation.id && sent.purpose === 'invalid-form');
  return invalid.length > 2 && invalid.every(({ status }) => isSuccess(status));
}

interface Broken {
  readonly issue: Issue;
  readonly value: unknown;
  readonly provenance: Provenance;
}

/** The rule of the document that the body breaks, preferably one with the provenance `shown`. */
function brokenRule({ document, validator, exchange: { operation, sent } }: ResponseContext): Broken | undefined {
  if (operation.body === undefined) return undefined;
  const { values, issues } = readBody(operation, sent.body ?? '');
  const described = { pointer: operation.body.pointer, provenance: operation.provenance };
  const broken = [...issues, ...validator.compile(operation.body.pointer)(values)].map((issue) => ({
    issue,
    value: valueAt(values, issue.path),
    provenance: provenanceOfIssue(document, described, values, issue),
  }));
  return broken.find(({ provenance }) => provenance === 'shown') ?? broken[0];
}

/** Proposes to remove the rule. A closed form stays closed, because a refusal of misspelt fields is useful. */
function proposalOf(context: ResponseContext, { issue, value }: Broken): Proposal {
  const isClosed = issue.keyword === 'additionalProperties' || issue.keyword === 'unevaluatedProperties';
  return (isClosed ? undefined : proposalFor(issue, value)) ?? occasionProposal(context, 'x-for-invalid-form');
}
