import { verdictOf, type AnswerCheck } from '../finding.ts';
import { observe } from '../observe.ts';
import { provenanceOfIssue } from '../place.ts';

export const schemaHolds: AnswerCheck = {
  id: 'schema',
  claim: 'The body is what the document describes, in every part.',
  isFinal: false,
  look({ document, validator, answer, response, json }) {
    if (response === undefined || json?.pointer === undefined || answer.body.kind !== 'json') return [];
    const { pointer } = json;
    const { value } = answer.body;
    return validator
      .compile(pointer)(value)
      .map((issue) => ({
        pointer: issue.path,
        verdict: verdictOf(provenanceOfIssue(document, { pointer, provenance: response.provenance }, value, issue)),
        message: `${issue.path === '' ? 'the body' : issue.path} ${issue.message}`,
        expected: issue.message,
        observed: observe(document, pointer, value, issue.path),
        // The place in the document, so that one cause in a hundred items is one finding.
        rule: `${issue.schemaPath} ${issue.message}`,
      }));
  },
};
