import { isObject } from '../../document/json.ts';
import { valueAt } from '../../document/pointer.ts';
import { mediaFor } from '../../exchange/exchange.ts';
import type { Check } from '../check.ts';
import { observedText } from '../observed.ts';

export const contentTypeDocumented: Check = {
  id: 'content-type-documented',
  claim: 'The document describes the content type of the response.',
  example: 'The document describes `application/json`, and the response has `text/html`.',
  judges:
    'Compares the media type without its parameters, by exact name or range. An undescribed type is a discovery. Other checks judge whether the body matches its description.',
  client:
    'The client chooses its parser by the content type. With an undescribed one it returns text or a blob where the type declares an object.',
  applies: ({ responses }) => Object.values(responses).some(({ content }) => Object.keys(content).length > 0),
  checkResponse({ document, exchange, response }) {
    const expected = Object.keys(response?.content ?? {});
    if (response === undefined || expected.length === 0 || mediaFor(response, exchange.mediaType) !== undefined) return [];
    // The check body-readable reports a missing body.
    if (exchange.body.kind === 'empty') return [];
    const [described] = Object.values(response.content);
    // The body may match the described schema under another content type: then the proposal refers to that schema.
    const written = described === undefined ? undefined : valueAt(document, described.holder);
    return [
      {
        pointer: '',
        verdict: 'discovered',
        isUrgent: true,
        message: `the document does not describe ${exchange.mediaType === '' ? 'a response without a content type' : `the content type ${exchange.mediaType}`}`,
        expected: expected.join(', '),
        observed: exchange.mediaType === '' ? 'no content type' : exchange.mediaType,
        at: `${response.holder}/content`,
        rule: exchange.mediaType,
        cause: 'content-type',
        assertion: { kind: 'media-type', allowed: expected },
        proposal: {
          kind: 'add-entry',
          at: `${response.holder}/content`,
          // Without a content type, the proposal allows any.
          key: exchange.mediaType === '' ? '*/*' : exchange.mediaType,
          value: exchange.body.kind === 'json' && isObject(written) ? written : observedText(),
        },
      },
    ];
  },
};
