import { mediaFor } from '../answer.ts';
import type { AnswerCheck } from '../finding.ts';

/** Another label alone is a discovery; that the body is not what was described is found by the checks of the body. */
export const contentTypeDocumented: AnswerCheck = {
  id: 'content-type-documented',
  claim: 'The document describes the content type of the answer.',
  isFinal: false,
  look({ answer, response }) {
    const expected = Object.keys(response?.content ?? {});
    if (response === undefined || expected.length === 0 || mediaFor(response, answer.mediaType) !== undefined) return [];
    return [
      {
        pointer: '',
        verdict: 'discovered',
        message: `the document does not describe ${answer.mediaType === '' ? 'an answer without a content type' : `the content type ${answer.mediaType}`}`,
        expected: expected.join(', '),
        observed: answer.mediaType === '' ? 'no content type' : answer.mediaType,
        rule: answer.mediaType,
      },
    ];
  },
};
