import { isObject } from '../document/json.ts';
import type { Operation, Parameter } from '../document/operation.ts';
import { isCredential, isEntityTag, isIgnorable, isRequestName, textPairs, wholeObject } from '../document/parameters.ts';
import type { Pair, RequestParameters } from '../document/parameters.ts';
import { sampleOf } from '../document/sample.ts';
import { schemaNodes } from '../document/schema.ts';
import { alternativeValues, specialValues } from '../document/values.ts';
import type { SpecialValue } from '../document/values.ts';
import { isCursor, pagingOf } from '../exchange/paging.ts';
import { validBody } from './sendable.ts';
import type { RequestSource, Sendable } from './sendable.ts';
import { stepForm } from './step-form.ts';
import type { StepForm } from './step.ts';

/** A valid request that differs from the plain one. */
export interface Variation {
  readonly parameters: RequestParameters;
  readonly form: StepForm | undefined;
  readonly detail: string;
}

/** A part of a request with several valid values: a field of the body, or a parameter with its values as they are sent. */
interface Factor {
  readonly name: string;
  readonly parameter?: Parameter;
  readonly values: readonly (SpecialValue & { readonly isAbsent?: boolean; readonly pairs?: readonly Pair[] })[];
}

type Choice = readonly [Factor, Factor['values'][number]];

/**
 * Valid requests that together have every special value of every part at least once. Each request has one value of each part, so that their
 * number is that of the part with the most values, not the product.
 * @param most the maximum number of requests
 */
export function variationsOf(source: RequestSource, operation: Operation, { parameters }: Sendable, most: number): readonly Variation[] {
  const whole = bodyAlternatives(source, operation, parameters);
  const factors = [...parameterFactors(source, operation), ...(whole.length > 0 ? [] : bodyFactors(source, operation))];
  const rows = Math.min(most - whole.length, Math.max(0, ...factors.map(({ values }) => values.length)));
  const mixed = Array.from({ length: Math.max(0, rows) }, (_, row) =>
    factors.flatMap((factor): readonly Choice[] => {
      const value = factor.values[row % factor.values.length];
      return value === undefined ? [] : [[factor, value]];
    }),
  ).flatMap((choices) => variationFor(source, operation, parameters, choices));
  return [...whole, ...mixed].slice(0, most);
}

/** One request for each alternative of a body. */
export function bodyAlternatives(
  source: RequestSource,
  operation: Operation,
  parameters: RequestParameters,
): readonly (Variation & { readonly form: StepForm })[] {
  if (operation.body === undefined) return [];
  return alternativeValues(source, operation.body.pointer).flatMap(({ value, what }) =>
    isObject(value)
      ? [{ parameters, form: stepForm(source, operation, { values: value, isFromDocument: false }), detail: `the body as ${what}` }]
      : [],
  );
}

function parameterFactors(source: RequestSource, operation: Operation): readonly Factor[] {
  const position = pagingOf(source.document, operation)?.field;
  return operation.parameters.flatMap((parameter): readonly Factor[] => {
    const { name, in: place, pointer, required } = parameter;
    if (place === 'path' || pointer === undefined || (place === 'query' && name === position) || isCursor(parameter)) return [];
    if (isCredential(operation, parameter) || isEntityTag(parameter) || isIgnorable(parameter) || isRequestName(parameter)) return [];
    const special = specialValues(source, pointer);
    const sample = special.length > 0 || required ? undefined : sampleOf(source, pointer);
    const usual = sample === undefined ? [] : [{ value: sample.value, what: 'given' }];
    const whole = wholeObject(source, parameter);
    const objects = whole === undefined ? [] : [{ value: whole.value, what: 'with all properties' }];
    const values = [...special, ...usual, ...objects].flatMap((one) => {
      const pairs = textPairs(parameter, one.value) ?? [];
      return pairs.length > 0 && pairs.every((pair) => arrivesAsIs(parameter, pair)) ? [{ ...one, pairs }] : [];
    });
    return values.length === 0 ? [] : [{ name, parameter, values }];
  });
}

/** Whether the text of a parameter arrives as it is. Nothing tells an empty text from an absent one, and a header carries visible ASCII only. */
function arrivesAsIs({ in: place }: Parameter, [, text]: Pair): boolean {
  return text !== '' && (place !== 'header' || /^[!-~](?:[ -~]*[!-~])?$/.test(text));
}

function bodyFactors(source: RequestSource, { body }: Operation): readonly Factor[] {
  const { document } = source;
  if (body === undefined) return [];
  return [...body.fields.values()].flatMap(({ name, pointer, required, kind }): readonly Factor[] => {
    const nodes = schemaNodes(document, pointer);
    if (nodes.some(({ schema }) => schema['readOnly'] === true) || kind === 'unsupported') return [];
    // A form cannot carry null.
    const special = specialValues(source, pointer).filter(({ value }) => body.format === 'json' || value !== null);
    const sample = special.length > 0 || required ? undefined : sampleOf(source, pointer);
    const values = sample === undefined ? special : [{ value: sample.value, what: 'given' }];
    const all = required ? values : [...values, { value: undefined, what: 'absent', isAbsent: true }];
    return all.length === 0 ? [] : [{ name, values: all }];
  });
}

/** The request with all choices; when it is invalid as a whole, those with single choices that are valid. */
function variationFor(
  source: RequestSource,
  operation: Operation,
  plain: RequestParameters,
  choices: readonly Choice[],
): readonly Variation[] {
  const { body } = operation;
  const valid = validBody(source, operation);
  const ofBody = choices.filter(([{ parameter }]) => parameter === undefined);
  const chosen = choices.filter(([{ parameter }]) => parameter !== undefined);
  const parameters = chosen.reduce((all, [{ parameter }, { pairs }]) => withPairs(all, parameter, pairs), plain);
  if (body === undefined || valid === undefined) return [{ parameters, form: undefined, detail: describeChoices(chosen) }];
  const check = source.validator.compile(body.pointer);
  const used = ofBody.filter((choice) => check(withChoices(valid.values, [choice])).length === 0);
  const whole = withChoices(valid.values, used);
  const kept = check(whole).length === 0 ? used : used.slice(0, 1);
  const values = withChoices(valid.values, kept);
  if (!isObject(values)) return [];
  const form = stepForm(source, operation, { values, isFromDocument: false });
  return [{ parameters, form, detail: describeChoices([...chosen, ...kept]) }];
}

function withPairs(all: RequestParameters, parameter: Parameter | undefined, pairs: readonly Pair[] = []): RequestParameters {
  const [first] = pairs;
  if (parameter?.in === 'header' && first !== undefined) return { ...all, headers: { ...all.headers, [parameter.name]: first[1] } };
  if (parameter?.in === 'cookie' && first !== undefined) return { ...all, cookies: { ...all.cookies, [parameter.name]: first[1] } };
  const names = new Set([parameter?.name, ...pairs.map(([name]) => name)]);
  return { ...all, query: [...all.query.filter(([name]) => !names.has(name)), ...pairs] };
}

function withChoices(values: Readonly<Record<string, unknown>>, choices: readonly Choice[]): Readonly<Record<string, unknown>> {
  const changed: Record<string, unknown> = { ...values };
  for (const [{ name }, { value, isAbsent }] of choices) {
    if (isAbsent === true) delete changed[name];
    else changed[name] = value;
  }
  return changed;
}

function describeChoices(choices: readonly Choice[]): string {
  return choices.map(([{ name }, { what }]) => `${name} ${what}`).join(', ');
}
