import type { Operation } from '../document/operation.ts';
import type { RequestParameters } from '../document/parameters.ts';
import { fillPath } from '../document/path-template.ts';
import type { PathValues } from '../exchange/discover.ts';
import type { Credential, Purpose } from '../exchange/exchange.ts';
import { writeBody } from '../form/body.ts';

/** The effect of a successful request. */
export type Effect = 'reads' | 'changes' | 'costs';

/** The phases of a run, in order. Actions with other values (`vary`) come late, because they can leave a state in which others are refused. */
export const PHASES = {
  orphans: 0,
  read: 1,
  create: 2,
  readMore: 3,
  change: 4,
  changed: 5,
  vary: 6,
  probe: 7,
  look: 8,
  remove: 9,
  undo: 10,
} as const;

/** One or more requests of the plan. */
export interface Step {
  readonly operation: Operation;
  readonly purpose: Purpose;
  readonly method: string;
  readonly credential: Credential;
  /**
   * The source of path parameters: earlier responses, resources that this run created, either of these as the parents of a new resource, or
   * fixed values.
   */
  readonly path: 'none' | 'found' | 'own' | 'parents' | PathValues;
  /** Whether the fixed values are made up, so that no resource should have them. */
  readonly isUnknown?: boolean;
  readonly form: StepForm | undefined;
  /** Values of its required parameters, except path parameters. */
  readonly parameters: RequestParameters;
  /** The media type in `Accept`. Default: JSON, or what the operation describes. */
  readonly accept?: string;
  /** What to send as `If-Match`. Default: the entity tag of the latest response, if the operation has the parameter. */
  readonly ifMatch?: 'missing' | 'stale';
  /** Whether to ask for the resource only if it differs from the latest response. Such a request waits for a response with an entity tag. */
  readonly ifChanged?: boolean;
  /** The parameter of the next page; empty if the page before has an address. Without `value`, the response with the page before has it. */
  readonly next?: { readonly in: 'form' | 'query'; readonly field: string; readonly value: string | undefined };
  /** The special part of the request. */
  readonly detail: string;
  /** The maximum number of requests. */
  readonly times: number;
  readonly phase: number;
  readonly effect: Effect;
  /** Sent only for resources on which this operation succeeded in this run, so that the run undoes only its own changes. */
  readonly onlyAfter?: string;
  /** Sent only if the service failed on a creation in the list, or did not respond to it. */
  readonly ifDoubtful?: boolean;
  /** The journal entry that the step undoes. */
  readonly undoes?: string;
}

export interface StepForm {
  readonly values: Readonly<Record<string, unknown>>;
  /** The whole JSON value, if it is not an object. */
  readonly whole?: unknown;
  /** Whether all values come from the document; else some are generated. */
  readonly isFromDocument: boolean;
  /** Fields with an identifier from earlier responses, and the path parameter that it belongs to. */
  readonly found: Readonly<Record<string, string>>;
}

/** Serialises the body of a step with identifiers from earlier responses. */
export function bodyOf({ operation, form, next }: Step, found: Readonly<Record<string, unknown>>): string | undefined {
  const page = next?.in === 'form' && next.value !== undefined ? { [next.field]: next.value } : {};
  if (form === undefined) return undefined;
  if (form.whole !== undefined) return operation.body?.format === 'text' ? String(form.whole) : JSON.stringify(form.whole);
  const identifiers = Object.fromEntries(Object.entries(found).map(([name, value]) => [name, asField(operation, name, value)]));
  return writeBody(operation, { ...form.values, ...page, ...identifiers });
}

/** Converts an identifier to a number if the field of the JSON body is one. */
function asField({ body }: Operation, name: string, value: unknown): unknown {
  const kind = body?.format === 'json' ? body.fields.get(name)?.kind : undefined;
  return (kind === 'integer' || kind === 'number') && typeof value === 'string' && /^-?[0-9]+$/.test(value) ? Number(value) : value;
}

/** Whether a service should refuse a request: it is not a valid one of the account. */
export function isProbe({ purpose, credential }: Pick<Step, 'purpose' | 'credential'>): boolean {
  return credential !== 'account' || PROBES.has(purpose);
}

const PROBES: ReadonlySet<Purpose> = new Set(['unknown-id', 'invalid-form', 'invalid-parameter', 'method', 'precondition', 'remove-again']);

/** Whether a request can change something, if the service carries it out. */
export function isChange({ method, operation }: Pick<Step, 'method' | 'operation'>): boolean {
  return method === operation.method ? !operation.readOnly : method !== 'GET';
}

/** Describes a step in one line: method, path, form, key and purpose. */
export function describeStep(step: Step): string {
  const { operation, method, purpose, detail, credential, times, path } = step;
  const filled = typeof path === 'string' ? operation.path : decodeURI(fillPath(operation.path, path));
  const page = step.next?.in === 'form' && step.next.value === undefined ? [step.next.field] : [];
  const known = Object.fromEntries([...Object.keys(step.form?.found ?? {}), ...page].map((name) => [name, 'FOUND']));
  const pairs = step.parameters.query.map(([name, value]) => `${name}=${value}`);
  if (step.next?.in === 'query') pairs.push(`${step.next.field || 'next page'}=${step.next.value ?? '{from a response}'}`);
  const query = pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  const body = bodyOf(step, known)?.replaceAll('=FOUND', '={from a response}').replaceAll('"FOUND"', '{from a response}');
  const key = credential === 'account' ? '' : credential === 'none' ? ', without a key' : ', with a made-up key';
  const often = times > 1 ? `, up to ${times} times` : '';
  return `${method} ${filled}${query}${body === undefined || body === '' ? '' : ` ${body}`}  (${purpose}${detail === '' ? '' : `: ${detail}`}${key}${often})`;
}
