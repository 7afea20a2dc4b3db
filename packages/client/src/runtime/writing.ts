/** What only those operations need that have a form or change something; a program without them holds none of it. */
import { OutcomeUnknownError } from './errors.ts';
import type { ResellerError } from './errors.ts';
import { writeField } from './form.ts';
import type { Refuse, Values, WriteField } from './form.ts';
import type { RequestOptions } from './options.ts';
import type { Prepared } from './prepare.ts';

const KEY = 'Idempotency-Key';

/** What stands in place of a secret. */
export const MASK = '***';

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

/**
 * Writes a form. Fields that are undefined are left out.
 *
 * @param facts The letters of the operation (see `Meta`), then a text for each field, as the generator writes it: its name, `=`, its
 *   type, then `!` where it is required, `*` where it is secret, and behind `>` each field that it needs.
 * @param refuse Is told what is wrong, by field; nothing may be sent then.
 */
export type Write = (facts: readonly string[], options: RequestOptions, refuse: Refuse) => Written;

export const write: Write = (facts, options, refuse) => writeWith(writeField, facts, options, refuse);

/** @param writeOne Writes a field of a type that the form has. */
export function writeWith(
  writeOne: WriteField,
  [flags = '', ...kinds]: readonly string[],
  { body, idempotencyKey: key = crypto.randomUUID() }: RequestOptions,
  refuse: Refuse,
): Written {
  const values: Values = Object(body);
  const unknown = { ...values };
  const form: Record<string, unknown> = {};
  const sent: string[] = [];
  const shown: string[] = [];
  for (const kind of kinds) {
    const [name = '', type = '', required, secret, needs = ''] = kind.split(/=([^!*>]+)(!?)(\*?)/);
    const value = values[name];
    delete unknown[name];
    if (value !== undefined) {
      for (const needed of needs.split('>'))
        if (needed && values[needed] === undefined) refuse(needed, 'required', `is required with ${name}`);
      const text = writeOne(name, type, value, refuse);
      if (text) {
        sent.push(text);
        shown.push(secret ? `${name}=${MASK}` : text);
        form[name] = secret ? MASK : value;
      }
    } else if (required) refuse(name, 'required', 'is required');
  }
  for (const [name, value] of Object.entries(unknown)) if (value !== undefined) refuse(name, 'unknown', 'is not a field of this form');
  if (!/^[!-&(-~]{1,255}$/.test(key)) refuse('idempotencyKey', 'pattern', 'must be visible ASCII, without spaces');
  let lost = false;
  return {
    body: sent.join('&'),
    form,
    key,
    headers: /k/.test(flags) ? { [KEY]: key } : {},
    curl: (/k/.test(flags) ? ` -H '${KEY}: ${key}'` : '') + (sent[0] ? ` -d '${shown.join('&')}'` : ''),
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
