import { answersJson } from '../applies.ts';
import { mediaFor } from '../answer.ts';
import type { Check, Subject } from '../check.ts';
import { verdictOf } from '../finding.ts';
import { observedText } from '../observed.ts';
import type { OperationResponse } from '../operation.ts';
import type { Proposal } from '../proposal.ts';

export const bodyReadable: Check = {
  id: 'body-readable',
  claim: 'Where the document describes JSON, the body is JSON in UTF-8.',
  judges: 'Reads the whole body, whatever its label says. Answers to HEAD have none.',
  client: 'The client throws a parse error instead of the described error, and the HTTP status is easily lost with it.',
  applies: answersJson,
  isFinal: true,
  look(subject) {
    const { answer, response, json } = subject;
    if (response === undefined || json === undefined || answer.body.kind === 'json' || answer.sent.method === 'HEAD') return [];
    // Another content type that is described as well promises no JSON.
    const isOther = answer.mediaType !== '' && !isJson(answer.mediaType) && mediaFor(response, answer.mediaType) !== undefined;
    if (answer.body.kind === 'other' && (isOther || (answer.mediaType === '' && response.content['*/*'] !== undefined))) return [];
    return [
      {
        pointer: '',
        verdict: verdictOf(response.provenance),
        message: 'the body is not the JSON that the document describes',
        expected: 'JSON',
        observed: answer.body.kind === 'empty' ? 'an empty body' : answer.body.problem,
        at: `${response.holder}/content`,
        rule: 'body',
        proposal: response.provenance === 'shown' ? undefined : proposalOf(subject, response),
      },
    ];
  },
  defect: {
    says: 'A sign-in page is answered in place of JSON, with the label of JSON.',
    tamper: ({ outcome, answer }) => (outcome === 'success' ? { ...answer, body: '<html><body>Please sign in</body></html>' } : undefined),
  },
};

/** With the content type that it has, or else without saying what the body is. */
function proposalOf({ answer: { body, mediaType } }: Subject, { holder }: OperationResponse): Proposal {
  if (body.kind === 'empty' || isJson(mediaType)) return { kind: 'remove-entry', at: holder, key: 'content' };
  return { kind: 'add-entry', at: `${holder}/content`, key: mediaType === '' ? '*/*' : mediaType, value: observedText() };
}

function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}
