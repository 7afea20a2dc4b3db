import { Dialog } from '@base-ui/react/dialog';
import type { OperationId } from '@reseller/operator-client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { FormEvent } from 'react';

import { send } from '../api/client.ts';
import type { Sent } from '../api/client.ts';
import { fieldErrors, messageOf } from '../api/problem.ts';
import { operatorCurl } from '../api/snippets.ts';
import { forms } from '../document/forms.data.ts';
import type { Form } from '../document/forms.data.ts';
import { operations } from '../document/operations.data.ts';
import { isDangerous } from './Actions.tsx';
import { Button, CopyButton, Json } from './controls.tsx';
import { Description } from './Description.tsx';
import { Fields } from './Fields.tsx';
import { bodyOf, initialValues, UnreadableField } from './form.ts';
import type { Values } from './form.ts';
import type { Opened } from './OperationDialog.tsx';

interface Props {
  readonly opened: Opened;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

const NO_FORM: Form = { description: '', path: [], body: [] };

/** Operations whose response is shown, because it has a secret that is never returned again, or the result of a check. */
const SHOWN_RESPONSES: ReadonlySet<OperationId> = new Set<OperationId>([
  'issueApiKey',
  'rotateApiKey',
  'createOperatorToken',
  'rotateOperatorToken',
  'registerVerifier',
  'createIsolatedAccount',
  'verifyOtp',
]);

export function OperationForm({ opened, onDone, onClose }: Props) {
  const { id, path: given = {}, current } = opened;
  const form = forms[id] ?? NO_FORM;
  const asked = form.path.filter(({ name }) => given[name] === undefined);
  const [values, setValues] = useState<Values>(() => ({ ...initialValues(asked, {}, 'path:'), ...initialValues(form.body, current) }));
  const [unreadable, setUnreadable] = useState<UnreadableField>();
  const mutation = useMutation({
    mutationFn: (sent: Sent) => send(id, sent),
    onSuccess() {
      onDone();
      if (!SHOWN_RESPONSES.has(id)) onClose();
    },
  });

  function request(): Sent {
    const path = { ...given, ...Object.fromEntries(asked.map(({ name }) => [name, values[`path:${name}`] ?? ''])) };
    return { path, ...(form.body.length === 0 ? {} : { body: bodyOf(form.body, values) }) };
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
  const refused = [...fieldErrors(mutation.error)].map(([pointer, detail]): [string, string] => [
    pointer.slice(1).replaceAll('/', '.'),
    detail,
  ]);
  const errors = new Map([...refused, ...(unreadable ? [[unreadable.path, unreadable.message] as const] : [])]);
  function onChange(path: string, text: string): void {
    setValues((before) => ({ ...before, [path]: text }));
  }
  return (
    <form onSubmit={submit} className="operation" noValidate={false}>
      <Dialog.Title className="dialog-title">{operations[id].summary}</Dialog.Title>
      <Description text={form.description} />
      {Object.keys(given).length > 0 && (
        <p className="target">
          <code>{Object.values(given).join(' / ')}</code>
        </p>
      )}
      <Fields fields={asked} prefix="path:" values={values} errors={errors} onChange={onChange} />
      <Fields fields={form.body} values={values} errors={errors} onChange={onChange} />
      {mutation.error && (
        <p className="error" role="alert">
          {messageOf(mutation.error)}
        </p>
      )}
      <div className="dialog-buttons">
        <CopyCurl id={id} request={request} />
        <Dialog.Close className="button">Cancel</Dialog.Close>
        <Button kind={isDangerous(id) ? 'danger' : 'primary'} type="submit" disabled={mutation.isPending}>
          {mutation.isPending ? 'Sending' : operations[id].summary}
        </Button>
      </div>
    </form>
  );
}

function CopyCurl({ id, request }: { readonly id: OperationId; readonly request: () => Sent }) {
  let text = '';
  try {
    text = operatorCurl(id, request());
  } catch {
    // The form cannot be read yet.
  }
  return text === '' ? null : <CopyButton text={text}>Copy as curl</CopyButton>;
}

function Result({ id, response, onClose }: { readonly id: OperationId; readonly response: unknown; readonly onClose: () => void }) {
  return (
    <div className="operation">
      <Dialog.Title className="dialog-title">{operations[id].summary}: done</Dialog.Title>
      <p>{id === 'verifyOtp' ? 'The code is valid.' : 'Copy the secret now. The service stores only its hash and never shows it again.'}</p>
      <Json text={JSON.stringify(response)} label="Response" />
      <div className="dialog-buttons">
        <CopyButton text={secretOf(response)}>Copy the secret</CopyButton>
        <Button kind="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </div>
  );
}

/** The key or token in a response, or else the whole response. */
function secretOf(response: unknown): string {
  const { key, token, issued, api_key: ofAccount } = Object(response);
  const found: unknown = key ?? token ?? Object(issued).key ?? Object(issued).token ?? Object(ofAccount).key;
  return typeof found === 'string' ? found : JSON.stringify(response);
}
