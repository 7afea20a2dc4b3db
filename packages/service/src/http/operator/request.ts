/** The checks of a request to the operator API before its operation runs. */
import type { Issue } from '@reseller/contract';

import type { BodyOf, OperatorId, PathOf, QueryOf } from '../../operator/operation.ts';
import { malformed, validationProblem } from '../../operator/problem.ts';
import { mistakesOf } from '../shared/mistakes.ts';
import type { ApiParameter, OperatorApi } from './api.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Values = Readonly<Record<string, unknown>>;

/**
 * Reads the parameters of the path or of the query.
 *
 * @throws OperatorProblem 400 if a parameter is unknown or breaks a rule.
 */
export function readParameters({ parameters, checkBody }: OperatorApi, place: ApiParameter['in'], given: unknown): Values {
  const known = new Map(parameters.filter((parameter) => parameter.in === place).map((parameter) => [parameter.name, parameter]));
  const entries = typeof given === 'object' && given !== null ? Object.entries(given) : [];
  return Object.fromEntries(
    entries.map(([name, text]) => {
      const parameter = known.get(name);
      if (!parameter) {
        const names = [...known.keys()].join(', ');
        const taken = names === '' ? 'Leave it out.' : `The operation takes ${names}.`;
        throw malformed(`There is no ${place} parameter ${name} here. ${taken}${checkBody ? ' Send fields in the JSON body.' : ''}`);
      }
      const value = parameterValueOf(parameter, text);
      const [issue] = mistakesOf(parameter.check(value));
      if (issue) throw malformed(`The ${place} parameter ${name} ${issue.message}.`);
      return [name, value];
    }),
  );
}

function parameterValueOf({ type }: ApiParameter, text: unknown): unknown {
  if (typeof text !== 'string') return text;
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  // Identifiers are stored in lower case.
  return UUID.test(text) ? text.toLowerCase() : text;
}

/** Members and items of a body. The longest body that the document describes has about 1,500. */
const MAX_MEMBERS = 4_096;
/** Levels of objects and lists in a body. */
const MAX_DEPTH = 32;
const [QUOTE, COMMA, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('",\\[]{}');

/** Whether a JSON text has too many members or levels. The time to validate and to report them depends on both, not only on the length. */
function isLarge(json: Uint8Array): boolean {
  let [isInText, depth, commas] = [false, 0, 0];
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) isInText = !isInText;
    else if (isInText) {
      if (byte === BACKSLASH) at++;
    } else if (byte === COMMA) commas++;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
    if (depth > MAX_DEPTH || commas >= MAX_MEMBERS) return true;
  }
  return false;
}

/**
 * Parses the body. Returns undefined if the operation takes none.
 *
 * @throws OperatorProblem 400 if the body is missing, is not JSON in UTF-8, or the operation takes none.
 */
export function readBody({ checkBody }: OperatorApi, body: unknown): unknown {
  const bytes = body instanceof Uint8Array ? body : new Uint8Array();
  if (!checkBody) {
    if (bytes.length === 0) return undefined;
    throw malformed('This operation takes no body. Send the request without one.');
  }
  if (bytes.length === 0) throw malformed('The body is missing. Send a JSON object, with Content-Type application/json.');
  if (isLarge(bytes)) {
    throw malformed(
      `The body has more than ${MAX_MEMBERS} members and items, or more than ${MAX_DEPTH} levels. Send only properties that the document describes.`,
    );
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw malformed('The body could not be read as JSON. Send a JSON object in UTF-8.');
  }
}

/**
 * Validates a body against the schema of the document.
 *
 * @throws OperatorProblem 422 with every broken rule.
 */
export function assertBody<Id extends OperatorId>({ checkBody }: OperatorApi<Id>, body: unknown): asserts body is BodyOf<Id> {
  const issues = mistakesOf(checkBody?.(body) ?? []);
  if (issues.length > 0) throw validationProblem(issues.map(brokenRule));
}

/** The values of `readParameters` have the generated types, because both follow the document. */
export function assertPath<Id extends OperatorId>(_api: OperatorApi<Id>, values: unknown): asserts values is PathOf<Id> {
  if (typeof values !== 'object' || values === null) throw malformed('The path could not be read.');
}

/** See `assertPath`. */
export function assertQuery<Id extends OperatorId>(_api: OperatorApi<Id>, values: unknown): asserts values is QueryOf<Id> {
  if (typeof values !== 'object' || values === null) throw malformed('The query could not be read.');
}

function brokenRule({ path, message }: Issue): { pointer: string; detail: string } {
  return { pointer: `#${path}`, detail: message };
}
