import { fastFormats } from 'ajv-formats/dist/formats.js';

import type { Issue } from '../document/issues.ts';
import { patternOf } from '../document/pattern.ts';

/**
 * A fact about the responses to the requests of a finding that is true once its cause is gone: small enough for a test without this package.
 * It is about the last response, unless it says otherwise.
 */
export type Assertion =
  /** The three digits of the status match a regular expression. */
  | { readonly kind: 'status'; readonly pattern: string }
  | { readonly kind: 'media-type'; readonly allowed: readonly string[] }
  | { readonly kind: 'header'; readonly name: string; readonly isPresent: boolean }
  /** The property at a JSON pointer is there, or is not; with `ofAll`, also in a response with another status than the recorded one. */
  | { readonly kind: 'property'; readonly pointer: string; readonly isPresent: boolean; readonly ofAll?: boolean }
  /** The value at a JSON pointer, or that of a header, obeys one keyword of JSON Schema. */
  | {
      readonly kind: 'rule';
      readonly pointer: string;
      readonly header?: string;
      readonly keyword: RuleKeyword;
      readonly limit: unknown;
    }
  /** A success has this value at a JSON pointer, or another one. */
  | { readonly kind: 'value'; readonly pointer: string; readonly value: unknown; readonly isEqual: boolean }
  | { readonly kind: 'body'; readonly is: 'complete' | 'json' | 'unambiguous' | 'without-key' }
  /** The status and a property with these values of a success agree. */
  | { readonly kind: 'agreement'; readonly pointer: string; readonly success: readonly unknown[] }
  /** The last two responses: other bodies have other entity tags. */
  | { readonly kind: 'tags-differ' }
  | { readonly kind: 'values-differ'; readonly pointer: string }
  /** At most this many items of the last list are in the list before it. */
  | { readonly kind: 'pages-differ'; readonly pointer: string; readonly allowance: number }
  /** The last response contains the identifier that the first one gave. */
  | { readonly kind: 'lists-created' };

const LIMITS = {
  type: 'type',
  enum: 'allowedValues',
  const: 'allowedValue',
  minimum: 'limit',
  maximum: 'limit',
  exclusiveMinimum: 'limit',
  exclusiveMaximum: 'limit',
  multipleOf: 'multipleOf',
  pattern: 'pattern',
  minLength: 'limit',
  maxLength: 'limit',
  minItems: 'limit',
  maxItems: 'limit',
} as const;

/** The keywords of JSON Schema that an assertion can express. The limit of `pattern` is a literal such as `/^a/u`, also for a `format`. */
export type RuleKeyword = keyof typeof LIMITS;

function isRuleKeyword(keyword: string): keyword is RuleKeyword {
  return Object.hasOwn(LIMITS, keyword);
}

export const REFUSED: Assertion = { kind: 'status', pattern: '^4' };

/** The assertion that a value obeys the rule of an issue; undefined when it needs the whole schema, such as for alternatives. */
export function assertionOf({ path, keyword, params }: Issue, header?: string): Assertion | undefined {
  if (keyword === 'required' || keyword === 'dependentRequired') return { kind: 'property', pointer: path, isPresent: true };
  if (keyword === 'additionalProperties') return { kind: 'property', pointer: path, isPresent: false };
  const at = { kind: 'rule', pointer: path, ...(header === undefined ? {} : { header }) } as const;
  if (keyword === 'format') {
    const pattern = patternOfFormat(String(params['format']));
    return pattern === undefined ? undefined : { ...at, keyword: 'pattern', limit: pattern };
  }
  if (keyword === 'pattern') return { ...at, keyword, limit: String(patternOf(String(params['pattern']))) };
  return isRuleKeyword(keyword) ? { ...at, keyword, limit: params[LIMITS[keyword]] } : undefined;
}

/** The regular expression of a format. It may allow a few more texts than the validator does. */
function patternOfFormat(name: string): string | undefined {
  const format = Object.entries(fastFormats).find(([known]) => known === name)?.[1];
  const test = typeof format === 'object' && !(format instanceof RegExp) ? format.validate : format;
  return test instanceof RegExp ? String(test) : undefined;
}
