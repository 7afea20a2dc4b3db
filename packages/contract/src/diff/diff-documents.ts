import { jsonOf } from '../answer.ts';
import { parseDocument, type OpenApiDocument } from '../document.ts';
import { isObject } from '../json.ts';
import type { Operation, Parameter } from '../operation.ts';
import { readOperations } from '../operations.ts';
import { valueAt } from '../pointer.ts';
import { IMPACTS, type Change, type Tell } from './change.ts';
import { diffSchemas } from './diff-schemas.ts';

interface Documents {
  readonly before: OpenApiDocument;
  readonly after: OpenApiDocument;
  readonly tell: Tell;
}

/**
 * What the change from one document to another means for those who use the service. A change of a schema that several operations
 * share is one change.
 */
export function diffDocuments(before: OpenApiDocument, after: OpenApiDocument): readonly Change[] {
  const were = new Map(readOperations(parseDocument(before)).map((operation) => [operation.id, operation]));
  const are = new Map(readOperations(parseDocument(after)).map((operation) => [operation.id, operation]));
  const changes = new Map<string, Change>();
  for (const id of new Set([...were.keys(), ...are.keys()])) {
    const tell: Tell = (change) => {
      const key = `${change.impact} ${change.at} ${change.what.split('.').at(-1)}`;
      const known = changes.get(key);
      if (known?.operations.includes(id) === true) return;
      changes.set(key, { ...(known ?? change), operations: [...(known?.operations ?? []), id] });
    };
    diffOperation({ before, after, tell }, were.get(id), are.get(id));
  }
  if (before.info.version !== after.info.version)
    changes.set('version', {
      impact: 'documentation',
      at: '/info/version',
      what: `the version is ${after.info.version} instead of ${before.info.version}`,
      client: 'Nothing changes at run time.',
      operations: [],
    });
  return [...changes.values()].toSorted((one, other) => IMPACTS.indexOf(one.impact) - IMPACTS.indexOf(other.impact));
}

function diffOperation(documents: Documents, was: Operation | undefined, is: Operation | undefined): void {
  const { tell } = documents;
  if (is === undefined) {
    if (was !== undefined)
      tell({
        impact: 'breaking',
        at: was.pointer,
        what: `${was.method} ${was.path} is gone`,
        client: `The function ${was.id} no longer exists; calls of earlier clients are answered with 404 or 405.`,
      });
    return;
  }
  if (was === undefined)
    return tell({ impact: 'safe', at: is.pointer, what: `${is.method} ${is.path} is new`, client: `A new function ${is.id}.` });
  const at = is.pointer;
  if (was.method !== is.method || was.path !== is.path)
    tell({
      impact: 'breaking',
      at,
      what: `it is ${is.method} ${is.path} instead of ${was.method} ${was.path}`,
      client: 'Earlier clients call an address that is gone.',
    });
  if (was.security?.name !== is.security?.name)
    tell({
      impact: is.security === undefined ? 'safe' : 'breaking',
      at,
      what: `the API key stands in ${is.security?.name ?? 'no header'} instead of ${was.security?.name ?? 'no header'}`,
      client: 'Earlier clients are refused with 401, unless no key is needed any more.',
    });
  if (was.billable !== is.billable)
    tell({
      impact: is.billable ? 'breaking' : 'safe',
      at,
      what: is.billable ? 'it costs money now' : 'it no longer costs money',
      client: is.billable ? 'The same call has a price.' : 'Nothing to do.',
    });
  if (was.retry !== is.retry)
    tell({
      impact: 'safe',
      at,
      what: `sending it again is ${is.retry} instead of ${was.retry}`,
      client: 'The client retries it, or no longer.',
    });
  diffParameters(documents, was, is);
  diffForms(documents, was, is);
  diffResponses(documents, was, is);
  diffTexts(documents, was, is);
}

function diffParameters(documents: Documents, was: Operation, is: Operation): void {
  const { before, after, tell } = documents;
  const key = ({ in: place, name }: Parameter): string => `${place} ${name}`;
  const [were, are] = [new Map(was.parameters.map((one) => [key(one), one])), new Map(is.parameters.map((one) => [key(one), one]))];
  for (const name of new Set([...were.keys(), ...are.keys()])) {
    const [old, now] = [were.get(name), are.get(name)];
    if (now === undefined)
      tell({
        impact: 'breaking',
        at: is.pointer,
        what: `the parameter ${name} is gone`,
        client: 'Code that sends it does not compile after the next generation.',
      });
    else if (old === undefined) {
      const client = now.required ? 'Calls that do not send it are refused.' : 'A further parameter, which you may use.';
      tell({
        impact: now.required ? 'breaking' : 'safe',
        at: is.pointer,
        what: `the parameter ${name} is new${now.required ? ' and required' : ''}`,
        client,
      });
    } else {
      if (old.required !== now.required)
        tell({
          impact: now.required ? 'breaking' : 'safe',
          at: is.pointer,
          what: `the parameter ${name} is ${now.required ? 'required' : 'optional'} now`,
          client: now.required ? 'Calls that do not send it are refused.' : 'Nothing to do.',
        });
      if (old.pointer !== undefined && now.pointer !== undefined)
        diffSchemas({ before, after, direction: 'request', tell: named(tell, `the parameter ${name}`) }, old.pointer, now.pointer);
    }
  }
}

function named(tell: Tell, name: string): Tell {
  return (change) => tell({ ...change, what: change.what.replace('the body', name) });
}

function diffForms({ before, after, tell }: Documents, was: Operation, is: Operation): void {
  if (was.form === undefined || is.form === undefined) {
    if (was.form === is.form) return;
    const isNeeded = is.form?.required === true;
    return tell({
      impact: isNeeded || is.form === undefined ? 'breaking' : 'safe',
      at: is.pointer,
      what: is.form === undefined ? 'it takes no form any more' : `it takes a form${isNeeded ? ', which is required' : ''}`,
      client: isNeeded ? 'Calls without it are refused.' : 'What the form said is no longer heard, or can be said now.',
    });
  }
  if (was.form.required !== is.form.required)
    tell({
      impact: is.form.required ? 'breaking' : 'safe',
      at: is.pointer,
      what: `the form is ${is.form.required ? 'required' : 'optional'} now`,
      client: is.form.required ? 'Calls without it are refused.' : 'Nothing to do.',
    });
  diffSchemas({ before, after, direction: 'request', tell: named(tell, 'the form') }, was.form.pointer, is.form.pointer);
}

function diffResponses({ before, after, tell }: Documents, was: Operation, is: Operation): void {
  for (const status of new Set([...Object.keys(was.responses), ...Object.keys(is.responses)])) {
    const [old, now] = [was.responses[status], is.responses[status]];
    const isSuccess = status.startsWith('2');
    if (now === undefined)
      tell({
        impact: isSuccess ? 'breaking' : 'safe',
        at: is.pointer,
        what: `the answer ${status} is gone`,
        client: isSuccess ? 'The result has another shape.' : 'A case less to handle.',
      });
    else if (old === undefined)
      tell({ impact: 'safe', at: now.holder, what: `the answer ${status} is new`, client: 'A further case to handle.' });
    else {
      for (const type of Object.keys(old.content))
        if (now.content[type] === undefined)
          tell({
            impact: 'breaking',
            at: now.holder,
            what: `the answer ${status} is no longer ${type}`,
            client: 'The client cannot read it.',
          });
      for (const [name, header] of Object.entries(old.headers))
        if (now.headers[name] === undefined)
          tell({
            impact: 'breaking',
            at: now.holder,
            what: `the header ${header.name} of the answer ${status} is gone`,
            client: 'Code that reads it gets nothing.',
          });
      for (const [name, header] of Object.entries(now.headers))
        if (old.headers[name] === undefined)
          tell({
            impact: 'safe',
            at: now.holder,
            what: `the header ${header.name} of the answer ${status} is new`,
            client: 'A further header, which you may use.',
          });
      const [from, to] = [jsonOf(old)?.pointer, jsonOf(now)?.pointer];
      if (from !== undefined && to !== undefined) diffSchemas({ before, after, direction: 'response', tell }, from, to);
      if (old.description !== now.description)
        tell({
          impact: 'documentation',
          at: now.holder,
          what: `the description of the answer ${status} changed`,
          client: 'Nothing changes at run time.',
        });
    }
  }
}

function diffTexts({ before, after, tell }: Documents, was: Operation, is: Operation): void {
  const [old, now] = [valueAt(before, was.pointer), valueAt(after, is.pointer)];
  for (const key of ['summary', 'description', 'tags', 'deprecated', 'x-provenance'] as const) {
    const [from, to] = [isObject(old) ? old[key] : undefined, isObject(now) ? now[key] : undefined];
    if (JSON.stringify(from) !== JSON.stringify(to))
      tell({ impact: 'documentation', at: is.pointer, what: `its ${key} changed`, client: 'Nothing changes at run time.' });
  }
}
