import { isSuccess } from '../../exchange/exchange.ts';
import type { Check } from '../check.ts';
import { verdictOf } from '../finding.ts';

const JSON_TYPE = 'application/json';

export const acceptHonoured: Check = {
  id: 'accept-honoured',
  claim: 'The service returns the media type that a request accepts, if the document describes it.',
  example:
    'The document describes `application/json` and `text/csv` for `GET /report`. The request has `Accept: text/csv`, and the response is JSON.',
  judges: 'Sends a request for each described media type of a success other than JSON, with only that type in `Accept`.',
  client: 'Code that asks for a CSV file or an image gets JSON, and stores it under the wrong name.',
  needs: ['valid-form'],
  applies: ({ responses }) =>
    Object.entries(responses).some(([status, { content }]) => status.startsWith('2') && Object.keys(content).length > 1),
  checkResponse({ exchange, response }) {
    const { sent, status, mediaType } = exchange;
    const accept = sent.headers['accept'] ?? JSON_TYPE;
    if (
      accept === JSON_TYPE ||
      accept.includes('*') ||
      response?.content[accept] === undefined ||
      !isSuccess(status) ||
      mediaType === accept
    )
      return [];
    return [
      {
        pointer: '',
        verdict: verdictOf(response.provenance),
        message: `the service returns ${mediaType === '' ? 'no content type' : mediaType} to a request that accepts only ${accept}`,
        expected: accept,
        observed: mediaType === '' ? 'no content type' : mediaType,
        at: `${response.holder}/content`,
        rule: accept,
        assertion: { kind: 'media-type', allowed: [accept] },
      },
    ];
  },
};
