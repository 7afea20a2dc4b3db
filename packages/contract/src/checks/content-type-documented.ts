import type { Check } from '../check.ts';
import { mediaFor } from '../exchange.ts';
import { isObject } from '../json.ts';
import { observedText } from '../observed.ts';
import { valueAt } from '../pointer.ts';

export const contentTypeDocumented: Check = {
  id: 'content-type-documented',
  claim: 'The document describes the content type of the response.',
  judges:
    'Compares the media type without its parameters, by exact name or range. Another label alone is a discovery; that the body is not what was described is found by the checks of the body.',
  client:
    'The client picks its parser by the content type. With another one it hands you text or a blob where the types promise an object.',
  applies: ({ responses }) => Object.values(responses).some(({ content }) => Object.keys(content).length > 0),
  checkResponse({ document, exchange, response }) {
    const expected = Object.keys(response?.content ?? {});
    if (response === undefined || expected.length === 0 || mediaFor(response, exchange.mediaType) !== undefined) return [];
    // That there is no body at all is found by body-readable.
    if (exchange.body.kind === 'empty') return [];
    const [described] = Object.values(response.content);
    // The same body under another label: a reference to the same schema, where the document has one.
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
        proposal: {
          kind: 'add-entry',
          at: `${response.holder}/content`,
          // Without a content type, the body is one of any.
          key: exchange.mediaType === '' ? '*/*' : exchange.mediaType,
          value: exchange.body.kind === 'json' && isObject(written) ? written : observedText(),
        },
      },
    ];
  },
  defect: {
    description: 'JSON is labelled text/html.',
    tamper: ({ outcome, response }) =>
      outcome === 'success' ? { ...response, headers: { ...response.headers, 'content-type': 'text/html' } } : undefined,
  },
};
