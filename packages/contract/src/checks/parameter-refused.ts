import { takesQuery } from '../applies.ts';
import type { Check, ResponseContext } from '../check.ts';
import { isSuccess } from '../exchange.ts';
import { verdictOf } from '../finding.ts';
import { isKnownFor, occasionProposal } from '../observed.ts';
import { isCredential, issuesOfText } from '../parameters.ts';
import { provenanceOfIssue } from '../place.ts';
import type { Proposal } from '../proposal.ts';
import { proposalFor } from '../propose.ts';
import type { Provenance } from '../provenance.ts';

export const parameterRefused: Check = {
  id: 'parameter-refused',
  claim: 'A query parameter that breaks a rule of the document is refused.',
  judges:
    'Breaks one rule of one query parameter at a time, in requests that read and, in a full run, in those that change something without costing money: a required parameter left out, a word in place of a number, a number below or above its limits, a text too short, too long, against its pattern or with characters that are not ASCII, a value that is not listed. Any 4xx is a refusal. Parameters that the document does not have are not sent, because documents do not say that there are no others.',
  client: 'The service silently reads something else than your code asked for: a page of another size, a filter that filters nothing.',
  needs: ['invalid-parameter'],
  applies: takesQuery,
  checkResponse(context) {
    const { sent, status } = context.exchange;
    if (sent.purpose !== 'invalid-parameter' || !isSuccess(status)) return [];
    if (isKnownFor(context.document, context.response, 'x-for-invalid-form')) return [];
    const broken = brokenRule(context);
    // The document no longer has the rule.
    if (broken === undefined) return [];
    return [
      {
        pointer: '',
        verdict: verdictOf(broken.provenance),
        message: `a query parameter that breaks a rule is accepted: ${sent.detail}`,
        expected: '4xx',
        observed: String(status),
        at: broken.at,
        rule: sent.detail,
        proposal: broken.provenance === 'shown' ? undefined : (broken.proposal ?? occasionProposal(context, 'x-for-invalid-form')),
      },
    ];
  },
  defect: {
    description: 'Query parameters are not validated.',
    tamper: ({ outcome, success }) => (outcome === 'invalid-parameter' ? success() : undefined),
  },
};

interface Broken {
  readonly at: string;
  readonly provenance: Provenance;
  readonly proposal: Proposal | undefined;
}

/** The rule that the query breaks, by the document. */
function brokenRule({ document, validator, exchange: { operation, sent } }: ResponseContext): Broken | undefined {
  const query = new URL(sent.url).searchParams;
  for (const parameter of operation.parameters) {
    const { name, in: place, pointer, provenance, required } = parameter;
    if (place !== 'query' || pointer === undefined || isCredential(operation, parameter)) continue;
    const text = query.get(name);
    if (text === null) {
      if (required) return { at: pointer, provenance, proposal: undefined };
      continue;
    }
    const [issue] = issuesOfText(validator.compile(pointer), text);
    if (issue !== undefined)
      return {
        at: issue.schemaPath === '' ? pointer : issue.schemaPath,
        provenance: provenanceOfIssue(document, { pointer, provenance }, text, issue),
        proposal: proposalFor(issue, text),
      };
  }
  return undefined;
}
