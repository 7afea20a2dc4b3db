import { writeBody } from './body.ts';
import type { PathValues } from './discover.ts';
import type { Credential, Purpose } from './exchange.ts';
import type { Operation } from './operation.ts';
import type { RequestParameters } from './parameters.ts';
import { fillPath } from './path-template.ts';

/** The effect of a request that succeeds. */
export type Effect = 'reads' | 'changes' | 'costs';

/** When in a run: each phase begins when the one before it is over. */
export const PHASES = { orphans: 0, read: 1, create: 2, readMore: 3, change: 4, probe: 5, remove: 6, removed: 7, undo: 8 } as const;

/** Requests that may leave: the plan is a list of these, and nothing else leaves. */
export interface Step {
  readonly operation: Operation;
  readonly purpose: Purpose;
  readonly method: string;
  readonly credential: Credential;
  /** Where path parameters come from: earlier responses, what this run created, or the values given here. */
  readonly path: 'none' | 'found' | 'own' | PathValues;
  /** The fields of its body. */
  readonly form: StepForm | undefined;
  /** Values of the parameters that it needs, apart from those of its path. */
  readonly parameters: RequestParameters;
  /** Where the next page begins, for a step that reads it; without `value` where only the page before it says. */
  readonly next?: { readonly in: 'form' | 'query'; readonly field: string; readonly value: string | undefined };
  /** A description of the special part of the request, for people. */
  readonly detail: string;
  /** How many requests of it may leave. */
  readonly times: number;
  readonly phase: number;
  readonly effect: Effect;
  /** Sent only for what this operation did in this run: what others did is not undone. */
  readonly onlyAfter?: string;
  /** Journal entry that this undoes. */
  readonly undoes?: string;
}

export interface StepForm {
  readonly values: Readonly<Record<string, unknown>>;
  /** Whether the document gives all of its values; else some are made up. */
  readonly isFromDocument: boolean;
  /** Fields whose value is an identifier from earlier responses, with the path parameter that it is the value of. */
  readonly found: Readonly<Record<string, string>>;
}

/** The body of a step, with the identifiers that were found. */
export function bodyOf({ operation, form, next }: Step, found: Readonly<Record<string, unknown>>): string | undefined {
  const page = next?.in === 'form' && next.value !== undefined ? { [next.field]: next.value } : {};
  if (form === undefined) return undefined;
  const identifiers = Object.fromEntries(Object.entries(found).map(([name, value]) => [name, asField(operation, name, value)]));
  return writeBody(operation, { ...form.values, ...page, ...identifiers });
}

/** Identifiers come from responses as texts; the field of a JSON body may be a number. */
function asField({ body }: Operation, name: string, value: unknown): unknown {
  const kind = body?.format === 'json' ? body.fields.get(name)?.kind : undefined;
  return (kind === 'integer' || kind === 'number') && typeof value === 'string' && /^-?[0-9]+$/.test(value) ? Number(value) : value;
}

/** A step as a line for people: method, path, form, key and purpose. */
export function describeStep(step: Step): string {
  const { operation, method, purpose, detail, credential, times, path } = step;
  const filled = typeof path === 'string' ? operation.path : decodeURI(fillPath(operation.path, path));
  const page = step.next?.in === 'form' && step.next.value === undefined ? [step.next.field] : [];
  const known = Object.fromEntries([...Object.keys(step.form?.found ?? {}), ...page].map((name) => [name, 'FOUND']));
  const pairs = step.parameters.query.map(([name, value]) => `${name}=${value}`);
  if (step.next?.in === 'query') pairs.push(`${step.next.field}=${step.next.value ?? '{from a response}'}`);
  const query = pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  const body = bodyOf(step, known)?.replaceAll('=FOUND', '={from a response}').replaceAll('"FOUND"', '{from a response}');
  const key = credential === 'account' ? '' : credential === 'none' ? ', without a key' : ', with a made-up key';
  const often = times > 1 ? `, up to ${times} times` : '';
  return `${method} ${filled}${query}${body === undefined || body === '' ? '' : ` ${body}`}  (${purpose}${detail === '' ? '' : `: ${detail}`}${key}${often})`;
}
