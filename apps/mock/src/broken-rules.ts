import { createValidator, pointerTokens, readForm, valueAt } from '@reseller/contract';
import type { Matcher, OpenApiDocument } from '@reseller/contract';

/** A rule of the document that a form breaks. */
export interface BrokenRule {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

/** Where the document says how many broken rules a response names. */
const MAX_NAMED_RULES = '/components/schemas/ValidationErrorEnvelope/properties/data/properties/fields/maxItems';

/** Finds the rules that the form of a request breaks, in the order and words of the service. */
export type FindBrokenRules = (method: string, path: string, body: Buffer) => readonly BrokenRule[];

export function createRuleFinder(document: OpenApiDocument, match: Matcher): FindBrokenRules {
  const validator = createValidator(document, { lazy: true, trusted: true });
  const most = Number(valueAt(document, MAX_NAMED_RULES) ?? Infinity);
  return (method, path, body) => {
    const operation = match(method, path.split('?', 1)[0] ?? '')?.operation;
    if (operation?.form === undefined) return [];
    const { values, issues } = readForm(operation, body);
    const broken = [...issues, ...validator.compile(operation.form.pointer)(values)];
    return broken.slice(0, most).map(({ path: pointer, keyword, message }) => {
      const rule = keyword === 'additionalProperties' ? 'unknown' : keyword;
      return { field: pointerTokens(pointer).join('/'), rule, message };
    });
  };
}
