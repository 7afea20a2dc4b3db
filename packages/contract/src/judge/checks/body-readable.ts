import type { OperationResponse } from '../../document/operation.ts';
import { mediaFor } from '../../exchange/exchange.ts';
import { returnsJson } from '../applies.ts';
import type { Check, ResponseContext } from '../check.ts';
import { verdictOf } from '../finding.ts';
import { observedText } from '../observed.ts';
import type { Proposal } from '../proposal.ts';

export const bodyReadable: Check = {
  id: 'body-readable',
  claim: 'Where the document describes JSON, the body is JSON in UTF-8.',
  judges: 'Parses the whole body, regardless of its content type. Skips responses to HEAD, which have no body.',
  client: 'The client throws a parse error instead of the described error, which can hide the HTTP status.',
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
    // A response in another described content type need not be JSON.
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
};

/** Proposes the content type of the response, or any type when the response has none or falsely claims JSON. */
function proposalOf({ exchange: { body, mediaType } }: ResponseContext, { holder }: OperationResponse): Proposal {
  const isAny = body.kind === 'empty' || mediaType === '' || isJson(mediaType);
  return { kind: 'add-entry', at: `${holder}/content`, key: isAny ? '*/*' : mediaType, value: observedText(body.kind === 'empty') };
}

function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}
