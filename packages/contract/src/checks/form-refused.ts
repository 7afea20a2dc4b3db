import { takesBody } from '../applies.ts';
import { readBody } from '../body.ts';
import type { Check, ResponseContext } from '../check.ts';
import { isSuccess } from '../exchange.ts';
import { verdictOf } from '../finding.ts';
import type { Issue } from '../issues.ts';
import { isKnownFor, occasionProposal } from '../observed.ts';
import { provenanceOfIssue } from '../place.ts';
import { valueAt } from '../pointer.ts';
import type { Proposal } from '../proposal.ts';
import { proposalFor } from '../propose.ts';
import type { Provenance } from '../provenance.ts';

export const formRefused: Check = {
  id: 'form-refused',
  claim: 'A body that breaks a rule of the document is refused.',
  judges:
    'Breaks one rule at a time of a valid form or JSON body: a required field left out, a wrong type, a number below or above its limits, a text too short, too long or with characters that are not ASCII, a value that is not listed, an unknown field, a field without the one that it needs. Any 4xx is a refusal. In recorded traffic, every invalid body that was served counts.',
  client:
    'The type forbids what the service takes, or the service silently ignores what you misspelt: `netwrok_speed` costs you nothing and gives you nothing.',
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
    // The document no longer has the rule.
    if (broken === undefined) return [];
    // In traffic, what is only assumed is told by request-described.
    if (sent.purpose === 'traffic' && broken.provenance !== 'shown') return [];
    return [
      {
        pointer: '',
        verdict: verdictOf(broken.provenance),
        message: `a body that breaks a rule is accepted: ${sent.detail === '' ? `${broken.issue.path.slice(1) || 'it'} ${broken.issue.message}` : sent.detail}`,
        expected: '4xx',
        observed: String(status),
        at: operation.body?.pointer ?? operation.pointer,
        rule: sent.detail === '' ? `${broken.issue.path} ${broken.issue.keyword}` : sent.detail,
        proposal: broken.provenance === 'shown' ? undefined : proposalOf(context, broken),
      },
    ];
  },
  defect: {
    description: 'Forms are not validated.',
    tamper: ({ outcome, success }) => (outcome === 'invalid-form' ? success() : undefined),
  },
};

interface Broken {
  readonly issue: Issue;
  readonly value: unknown;
  readonly provenance: Provenance;
}

/** The rule that the body breaks, by the document: one that is shown, where it breaks several. */
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

/** Takes the rule away. Only a form that lets unknown fields in is left closed: a misspelt field is worth a refusal all the same. */
function proposalOf(context: ResponseContext, { issue, value }: Broken): Proposal {
  const isClosed = issue.keyword === 'additionalProperties' || issue.keyword === 'unevaluatedProperties';
  return (isClosed ? undefined : proposalFor(issue, value)) ?? occasionProposal(context, 'x-for-invalid-form');
}
