import { always } from '../applies.ts';
import { isSuccess, jsonOf } from '../answer.ts';
import type { Check, Subject } from '../check.ts';
import { shapeSchema } from '../infer.ts';
import { isObject, type JsonObject } from '../json.ts';
import { valueAt } from '../pointer.ts';

export const statusDocumented: Check = {
  id: 'status-documented',
  claim: 'The document describes the HTTP status of the answer.',
  judges:
    'Looks for the exact status, then its class (`4XX`), then `default`. A status that is not described is a discovery and not a violation: the document is silent about it, it is not contradicted.',
  client:
    'The generated client has no type for this answer. It lands in the error branch as `unknown`, so code that switches over the described statuses falls through.',
  undescribed: 'too',
  applies: always,
  look({ document, validator, answer, response }) {
    if (response !== undefined || answer.sent.purpose === 'method') return [];
    const { operation, status, body } = answer;
    const described = Object.keys(operation.responses).join(', ');
    const known = body.kind === 'json' ? describedElsewhere({ document, validator, answer }, body.value) : undefined;
    const content = body.kind === 'json' ? { content: { 'application/json': { schema: known ?? shapeSchema(body.value) } } } : {};
    return [
      {
        pointer: '',
        verdict: 'discovered',
        message: `the document does not describe the status ${status}`,
        expected: described,
        observed: String(status),
        at: `${operation.pointer}/responses`,
        rule: String(status),
        cause: 'status',
        proposal: {
          kind: 'add-entry',
          at: `${operation.pointer}/responses`,
          key: String(status),
          value: { description: `Observed by a contract test; what it means is not known yet.`, 'x-provenance': 'not-shown', ...content },
        },
      },
    ];
  },
  defect: {
    says: 'An operation answers 206 where the document describes 200.',
    tamper: ({ outcome, operation, answer }) =>
      outcome === 'success' && operation?.readOnly === true ? { ...answer, status: 206 } : undefined,
  },
};

/** The schema of another failure, or success, of the operation that the body fits as well: then the change is a reference. */
function describedElsewhere(
  { document, validator, answer }: Pick<Subject, 'document' | 'validator' | 'answer'>,
  value: unknown,
): JsonObject | undefined {
  for (const [status, response] of Object.entries(answer.operation.responses)) {
    const pointer = jsonOf(response)?.pointer;
    const written = pointer === undefined ? undefined : valueAt(document, pointer);
    const isOfKind = status.startsWith('2') === isSuccess(answer.status);
    if (
      isOfKind &&
      pointer !== undefined &&
      isObject(written) &&
      written['$ref'] !== undefined &&
      validator.compile(pointer)(value).length === 0
    )
      return written;
  }
  return undefined;
}
