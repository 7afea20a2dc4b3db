import { Dialog } from '@base-ui/react/dialog';
import type { OperationId } from '@reseller/operator-client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { FormEvent } from 'react';

import { send } from '../api/client.ts';
import type { Sent } from '../api/client.ts';
import { fieldErrors, statusOf } from '../api/problem.ts';
import { operatorCurl } from '../api/snippets.ts';
import { differences, seenState } from '../api/versions.ts';
import type { SeenState } from '../api/versions.ts';
import { useToday } from '../app/today.ts';
import type { Field } from '../document/fields.ts';
import { forms } from '../document/forms.data.ts';
import type { Form } from '../document/forms.data.ts';
import { isOperation } from '../document/known.ts';
import { operations } from '../document/operations.data.ts';
import { Consequence } from './Consequence.tsx';
import { Button, CopyButton, Failure, Json } from './controls.tsx';
import { Description } from './Description.tsx';
import { Fields } from './Fields.tsx';
import { firstControl } from './firstControl.ts';
import { bodyOf, hasDay, initialValues, UnreadableField } from './form.ts';
import type { Values } from './form.ts';
import { Quote } from './Quote.tsx';
import { Refusal } from './Refusal.tsx';
import { visible } from './visible.ts';

/** The operation of the dialog, and the values that the page knows. */
export interface Opened {
  readonly id: OperationId;
  /** Parameters of the path that the page knows. The form asks for the others. */
  readonly path?: Readonly<Record<string, string>>;
  /** How a person knows the resource. Default: the parameters of the path. */
  readonly target?: string;
  /** The first values of the form. A resource that has a version is read again when the form opens. */
  readonly current?: unknown;
  /** The member of a resource with a version that the operation replaces. Default: the resource. */
  readonly part?: string;
}

/** A request that succeeded. */
export interface Done {
  readonly id: OperationId;
  readonly path: Readonly<Record<string, unknown>>;
  readonly response: unknown;
}

interface Props {
  readonly opened: Opened;
  /** Called after the request succeeded. */
  readonly onDone: (done: Done) => void;
  readonly onClose: () => void;
}

const PRECONDITION_FAILED = 412;
/** A form with more fields has its parts side by side. */
const MANY_FIELDS = 20;
const NO_FORM: Form = { description: '', path: [], body: [] };

export function OperationForm(props: Props) {
  const { id, path = {} } = props.opened;
  const { versionedBy } = operations[id];
  const isKnown = [...(versionedBy?.path ?? '').matchAll(/\{(\w+)\}/g)].every(([, name = '']) => path[name] !== undefined);
  const reader = isKnown && isOperation(versionedBy?.id) ? versionedBy.id : undefined;
  const { isLoading, error } = useQuery({
    queryKey: ['opened', reader, path],
    queryFn: async ({ signal }) => (await send(reader ?? id, { path }, signal)) ?? null,
    enabled: reader !== undefined,
    staleTime: Infinity,
    gcTime: 0,
  });
  const { body, path: inPath } = forms[id] ?? NO_FORM;
  const today = useToday(hasDay(body) || inPath.some(({ anyName }) => anyName === true));
  if (error !== null) return <Failure error={error} />;
  return isLoading || today === undefined ? <p className="muted">Loading</p> : <Form {...props} today={today} />;
}

function Form({ opened, today, onDone, onClose }: Props & { readonly today: string }) {
  const { id, path: given = {} } = opened;
  const { summary, destructive, secret, versionedBy } = operations[id];
  // The state that the form shows, however often the page reads it again.
  const [seen] = useState(() => seenState(versionedBy?.path, given));
  const first = firstValues(opened, seen);
  const form = forms[id] ?? NO_FORM;
  const asked = form.path.filter(({ name }) => given[name] === undefined);
  const [values, setValues] = useState<Values>(() => ({ ...namesFor(asked, today), ...initialValues(form.body, first, { today }) }));
  const [unreadable, setUnreadable] = useState<UnreadableField>();
  const element = useRef<HTMLFormElement>(null);
  // The dialog looks for its first field when it opens, and the first form of a page is loaded after that.
  useEffect(() => firstControl(element.current)?.focus(), []);
  const mutation = useMutation({
    mutationFn: (sent: Sent) => send(id, sent),
    onSuccess(response, { path = {} }) {
      onDone({ id, path, response });
      // The response to a check is its result.
      if (secret === undefined && id !== 'verifyOtp') onClose();
    },
  });

  function request(): Sent {
    const path = { ...given, ...Object.fromEntries(asked.map(({ name }) => [name, values[`path:${name}`] ?? ''])) };
    return { path, ...precondition(id, seen), ...(form.body.length === 0 ? {} : { body: bodyOf(form.body, values) }) };
  }

  function submit(event: FormEvent): void {
    event.preventDefault();
    try {
      setUnreadable(undefined);
      mutation.mutate(request());
    } catch (error) {
      if (!(error instanceof UnreadableField)) throw error;
      setUnreadable(error);
    }
  }

  if (mutation.isSuccess) return <Result id={id} response={mutation.data} onClose={onClose} />;
  const refused = [...fieldErrors(mutation.error)].map(([pointer, detail]): [string, string] => [pathOf(pointer, asked, values), detail]);
  const errors = new Map([...refused, ...(unreadable ? [[unreadable.path, unreadable.message] as const] : [])]);
  const common = { values, errors, accountId: given['account_id'], onValues: setValues };
  return (
    <form ref={element} onSubmit={submit} className={`operation ${countFields(form.body) > MANY_FIELDS ? 'many' : ''}`} noValidate={false}>
      <Dialog.Title className="dialog-title">{summary}</Dialog.Title>
      {Object.keys(given).length > 0 && <p className="target">{visible(withTimes(opened.target ?? Object.values(given).join(', ')))}</p>}
      <Consequence id={id} request={readable(request) ?? { path: given }} />
      <Description text={form.description} />
      {destructive && <p className="strong">This cannot be undone.</p>}
      <Fields fields={asked} prefix="path:" {...common} />
      <Fields fields={form.body} {...common} />
      {mutation.error && <Refusal error={mutation.error} />}
      {seen !== undefined && statusOf(mutation.error) === PRECONDITION_FAILED && <OtherChange opened={opened} before={seen.body} />}
      <div className="dialog-buttons">
        <Quote id={id} request={readable(request)} />
        <CopyCurl id={id} request={readable(request)} />
        <Dialog.Close className="button" data-cancel="">
          Cancel
        </Dialog.Close>
        <Button kind={destructive ? 'danger' : 'primary'} type="submit" disabled={mutation.isPending}>
          {mutation.isPending ? 'Sending' : summary}
        </Button>
      </div>
    </form>
  );
}

function countFields(fields: readonly Field[]): number {
  return fields.reduce((count, { fields: parts }) => count + (parts === undefined ? 1 : countFields(parts)), 0);
}

/** The change that came first. */
function OtherChange({ opened: { id, path }, before }: { readonly opened: Opened; readonly before: unknown }) {
  const reader = operations[id].versionedBy?.id;
  const { data } = useQuery({
    queryKey: ['changed', reader, path],
    queryFn: ({ signal }) => send(isOperation(reader) ? reader : id, { path }, signal),
    enabled: isOperation(reader),
    gcTime: 0,
  });
  if (data === undefined) return null;
  return (
    <>
      <p>Another operator changed this while the form was open. Close the form and open it again to begin with these values:</p>
      <ul>
        {differences(before, data).map((text) => (
          <li key={text}>{visible(text)}</li>
        ))}
      </ul>
    </>
  );
}

/** The texts of the parameters of the path, with names that the page makes up where any name will do. */
function namesFor(asked: readonly Field[], today: string): Values {
  function nameOf(field: string): string {
    return [field.replaceAll('_', '-'), today, crypto.randomUUID().slice(0, 6)].filter((part) => part !== '').join('-');
  }
  return Object.fromEntries(asked.map(({ name, anyName }) => [`path:${name}`, anyName ? nameOf(name) : '']));
}

/** The path of the field that a JSON Pointer of a problem names. In a map, the pointer has the name, and the path has the number of its row. */
function pathOf(pointer: string, asked: readonly Field[], values: Values): string {
  const [first = '', second, ...rest] = pointer.slice(1).split('/');
  if (asked.some(({ name }) => name === first)) return `path:${first}`;
  const row = Object.keys(values).find((path) => path.startsWith(`${first}.`) && path.endsWith('.name') && values[path] === second);
  if (row === undefined) return [first, ...(second === undefined ? [] : [second]), ...rest].join('.');
  return [row.slice(0, -'.name'.length), 'value', ...rest].join('.');
}

function firstValues({ current, part }: Opened, seen: SeenState | undefined): unknown {
  if (seen === undefined) return current;
  return part === undefined ? seen.body : Object(seen.body)[part];
}

/** A text whose instants are as in lists. */
function withTimes(text: string): string {
  return text.replaceAll(/\b(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z/g, '$1 $2 UTC');
}

/** A form without a state is for something new, whose name the person chooses, and must not replace what has this name already. */
function precondition(id: OperationId, seen: SeenState | undefined): Pick<Sent, 'headers'> {
  if (seen !== undefined) return { headers: { 'If-Match': seen.tag } };
  return operations[id].mayOnlyCreate ? { headers: { 'If-None-Match': '*' } } : {};
}

/** Undefined while a field cannot be read. */
function readable(request: () => Sent): Sent | undefined {
  try {
    return request();
  } catch (error) {
    if (error instanceof UnreadableField) return undefined;
    throw error;
  }
}

function CopyCurl({ id, request }: { readonly id: OperationId; readonly request: Sent | undefined }) {
  return request === undefined ? null : <CopyButton text={operatorCurl(id, request)}>Copy as curl</CopyButton>;
}

function Result({ id, response, onClose }: { readonly id: OperationId; readonly response: unknown; readonly onClose: () => void }) {
  const { summary, secret } = operations[id];
  const [isCopied, setCopied] = useState(false);
  return (
    <div className="operation" data-uncopied={secret && !isCopied ? '' : undefined}>
      <Dialog.Title className="dialog-title">{summary}: done</Dialog.Title>
      {secret ? (
        <>
          <p>Copy the secret now. The service stores only its hash and never shows it again.</p>
          <input
            className="secret"
            readOnly
            aria-label="Secret"
            value={textAt(response, secret)}
            onFocus={({ target }) => target.select()}
            onCopy={() => setCopied(true)}
          />
        </>
      ) : (
        <>
          <p>The code is valid.</p>
          <Json text={JSON.stringify(response)} label="Response" />
        </>
      )}
      <div className="dialog-buttons">
        <Button onClick={onClose}>Close</Button>
        {secret ? (
          <CopyButton kind="primary" text={textAt(response, secret)} onCopied={() => setCopied(true)}>
            Copy the secret
          </CopyButton>
        ) : (
          <CopyButton text={JSON.stringify(response)}>Copy the response</CopyButton>
        )}
      </div>
    </div>
  );
}

function textAt(response: unknown, path: readonly string[]): string {
  return String(path.reduce<unknown>((value, name) => Object(value)[name], response));
}
