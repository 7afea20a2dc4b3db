import { createValidator, pointerTokens, readForm } from '@reseller/contract';
import type { Matcher, OpenApiDocument } from '@reseller/contract';

/** A rule of the document that a form breaks. */
export interface BrokenRule {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

const MAX_NAMED_RULES = 50;

/** Finds the rules that the form of a request breaks, in the order and words of the service. */
export type FindBrokenRules = (method: string, path: string, body: Buffer) => readonly BrokenRule[];

export function createRuleFinder(document: OpenApiDocument, match: Matcher): FindBrokenRules {
  const validator = createValidator(document, { lazy: true, trusted: true });
  return (method, path, body) => {
    const operation = match(method, path.split('?', 1)[0] ?? '')?.operation;
    if (operation?.form === undefined) return [];
    const { values, issues } = readForm(operation, body);
    const broken = [...issues, ...validator.compile(operation.form.pointer)(values)];
    return broken.slice(0, MAX_NAMED_RULES).map(({ path: pointer, keyword, message }) => {
      const rule = keyword === 'additionalProperties' ? 'unknown' : keyword;
      return { field: pointerTokens(pointer).join('/'), rule, message };
    });
  };
}
