import { isSuccess } from '../answer.ts';
import { takesForm } from '../applies.ts';
import type { Check, Subject } from '../check.ts';
import { verdictOf } from '../finding.ts';
import { readForm } from '../form.ts';
import type { Issue } from '../issues.ts';
import { isKnownFor, occasionProposal } from '../observed.ts';
import { provenanceOfIssue } from '../place.ts';
import { valueAt } from '../pointer.ts';
import { proposalFor } from '../propose.ts';
import type { Proposal } from '../proposal.ts';
import type { Provenance } from '../provenance.ts';

export const formRefused: Check = {
  id: 'form-refused',
  claim: 'A form that breaks a rule of the document is refused.',
  judges:
    'Breaks one rule at a time of an example that is valid: a required field left out, a wrong type, a number below or above its limits, a text too short or too long, an unknown field, a field without the one that it needs. Any 4xx is a refusal.',
  client:
    'The type forbids what the service takes, or the service silently ignores what you misspelt: `netwrok_speed` costs you nothing and gives you nothing.',
  needs: ['invalid-form'],
  applies: takesForm,
  look(subject) {
    const { operation, sent, status } = subject.answer;
    if (sent.purpose !== 'invalid-form' || !isSuccess(status) || isKnownFor(subject.document, subject.response, 'x-for-invalid-form'))
      return [];
    const broken = brokenRule(subject);
    // The document does not have the rule any more.
    if (broken === undefined) return [];
    return [
      {
        pointer: '',
        verdict: verdictOf(broken.provenance),
        message: `a form that breaks a rule is accepted: ${sent.detail}`,
        expected: '4xx',
        observed: String(status),
        at: operation.form?.pointer ?? operation.pointer,
        rule: sent.detail,
        proposal: broken.provenance === 'shown' ? undefined : proposalOf(subject, broken),
      },
    ];
  },
  defect: {
    says: 'Forms are not validated.',
    tamper: ({ outcome, success }) => (outcome === 'invalid-form' ? success() : undefined),
  },
};

interface Broken {
  readonly issue: Issue;
  readonly value: unknown;
  readonly provenance: Provenance;
}

/** The rule that the form breaks, by the document: one that is shown, where it breaks several. */
function brokenRule({ document, validator, answer: { operation, sent } }: Subject): Broken | undefined {
  if (operation.form === undefined) return undefined;
  const { values, issues } = readForm(operation, sent.body ?? '');
  const described = { pointer: operation.form.pointer, provenance: operation.provenance };
  const broken = [...issues, ...validator.compile(operation.form.pointer)(values)].map((issue) => ({
    issue,
    value: valueAt(values, issue.path),
    provenance: provenanceOfIssue(document, described, values, issue),
  }));
  return broken.find(({ provenance }) => provenance === 'shown') ?? broken[0];
}

/** Takes the rule away. Only a form that lets unknown fields in is left closed: a misspelt field is worth a refusal all the same. */
function proposalOf(subject: Subject, { issue, value }: Broken): Proposal {
  const isClosed = issue.keyword === 'additionalProperties' || issue.keyword === 'unevaluatedProperties';
  return (isClosed ? undefined : proposalFor(issue, value)) ?? occasionProposal(subject, 'x-for-invalid-form');
}
