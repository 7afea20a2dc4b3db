/** What only those operations need that have a form or change something; a program without them holds none of it. */
import { OutcomeUnknownError } from './errors.ts';
import type { ResellerError } from './errors.ts';
import { writeForm } from './form.ts';
import type { Refuse, Values, WriteField } from './form.ts';
import type { RequestOptions } from './options.ts';
import type { Prepared } from './prepare.ts';

const KEY = 'Idempotency-Key';

/** What a form and an `Idempotency-Key` add to a request. */
export interface Written {
  readonly body: string;
  /** The form without secrets. */
  readonly form: Values;
  readonly key: string;
  readonly headers: Record<string, string>;
  /** The rest of the command line, without secrets. */
  readonly curl: string;
  /** What the failure of a sending means: the error, or that the outcome is unknown. */
  readonly outcome: (prepared: Prepared, error: ResellerError) => ResellerError;
}

/** @param facts The letters of the operation, then its fields; see `Meta`. */
export type Write = (facts: readonly string[], options: RequestOptions, refuse: Refuse) => Written;

export const write: Write = (facts, options, refuse) => writeWith(facts, options, refuse);

/** Writes with a way of writing fields that knows more types. */
export function writeWith(
  [flags = '', ...kinds]: readonly string[],
  { body: values, idempotencyKey: key = crypto.randomUUID() }: RequestOptions,
  refuse: Refuse,
  writeField?: WriteField,
): Written {
  const { body, shown: form, shownBody } = writeForm(kinds, Object(values), refuse, writeField);
  let lost = false;
  const takesKey = /k/.test(flags);
  if (!/^[!-&(-~]{1,255}$/.test(key)) refuse('idempotencyKey', 'pattern', 'must be visible ASCII, without spaces');
  return {
    body,
    form,
    key,
    headers: takesKey ? { [KEY]: key } : {},
    curl: (takesKey ? ` -H '${KEY}: ${key}'` : '') + (body && ` -d '${shownBody}'`),
    outcome(prepared, error) {
      const { uncertain = false, status = 500, message } = error;
      // Once lost, only an answer that speaks of the first sending settles it.
      lost = uncertain || (lost && (status > 499 || [401, 403, 429].includes(status)));
      return lost && !/s/.test(flags)
        ? prepared.fail(OutcomeUnknownError, `the outcome is unknown, see reconcile(error). ${message}`, {}, error)
        : error;
    },
  };
}
