import { returnsJson } from '../applies.ts';
import type { Check, ResponseContext } from '../check.ts';
import { mediaFor } from '../exchange.ts';
import { verdictOf } from '../finding.ts';
import { observedText } from '../observed.ts';
import type { OperationResponse } from '../operation.ts';
import type { Proposal } from '../proposal.ts';

export const bodyReadable: Check = {
  id: 'body-readable',
  claim: 'Where the document describes JSON, the body is JSON in UTF-8.',
  judges: 'Reads the whole body, whatever its label says. Responses to HEAD have none.',
  client: 'The client throws a parse error instead of the described error, and the HTTP status is easily lost with it.',
  applies: returnsJson,
  isFinal: true,
  checkResponse(context) {
    const { exchange, response, json } = context;
    if (
      response === undefined ||
      json === undefined ||
      exchange.body.kind === 'json' ||
      exchange.body.kind === 'cut' ||
      exchange.sent.method === 'HEAD'
    )
      return [];
    // Another content type that is described as well promises no JSON, and one of any kind promises nothing.
    const described = isJson(exchange.mediaType) || exchange.body.kind === 'empty' ? undefined : mediaFor(response, exchange.mediaType);
    if (described !== undefined || response.content['*/*'] !== undefined) return [];
    return [
      {
        pointer: '',
        verdict: verdictOf(response.provenance),
        message: 'the body is not the JSON that the document describes',
        expected: 'JSON',
        observed: exchange.body.kind === 'empty' ? 'an empty body' : exchange.body.problem,
        at: `${response.holder}/content`,
        rule: 'body',
        proposal: response.provenance === 'shown' ? undefined : proposalOf(context, response),
      },
    ];
  },
  defect: {
    description: 'The service sends a sign-in page instead of JSON, with the content type of JSON.',
    tamper: ({ outcome, response }) =>
      outcome === 'success' ? { ...response, body: '<html><body>Please sign in</body></html>' } : undefined,
  },
};

/** One more content type: the one that it has, or where that one promises what is not so, any. */
function proposalOf({ exchange: { body, mediaType } }: ResponseContext, { holder }: OperationResponse): Proposal {
  const isAny = body.kind === 'empty' || mediaType === '' || isJson(mediaType);
  return { kind: 'add-entry', at: `${holder}/content`, key: isAny ? '*/*' : mediaType, value: observedText(body.kind === 'empty') };
}

function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}
