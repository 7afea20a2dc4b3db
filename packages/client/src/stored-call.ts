/** A lost request as a JSON value, which another process can reconcile. */
import type { LostRequest } from './lost-request.ts';
import { dateOf } from './runtime/clock.ts';
import type { Connection } from './runtime/connection.ts';
import type { LostCall, OutcomeUnknownError } from './runtime/errors.ts';
import { formText, MASK } from './runtime/form.ts';
import { isRecord } from './runtime/json.ts';

export function storedCall({ name, message }: OutcomeUnknownError, request: LostRequest): LostCall {
  const { prepared, sentAt, sentOn, endedAt, attempts, account, witness } = request;
  const { method, url, path, curl, idempotencyKey, fields } = prepared;
  const { form: _form, required: _required, needs: _needs, hidden: _hidden, ...operation } = prepared.operation;
  const body = formText(fields.map(({ text, shown, ...field }) => ({ ...field, text: shown === MASK ? MASK : text })));
  const form = Object.fromEntries(fields.map((field) => [field.name, field.shown]));
  const sent = { sentAt: isoOf(sentOn), endedAt: isoOf(sentOn + endedAt - sentAt), attempts };
  const earlier = witness && { requestID: witness.requestID, at: isoOf(sentOn + witness.at - sentAt) };
  return { name, message, operation, method, url, path, form, body, curl, idempotencyKey, ...sent, account, earlier };
}

/**
 * @param own The hash of the key of this connection.
 * @throws TypeError when the value is not a call of the service of this connection.
 */
export function readCall(value: unknown, { base, clock }: Connection, own: string | undefined): LostRequest {
  if (!isLostCall(value) || !value.url.startsWith(`${base}/`))
    throw new TypeError('reconcile() takes an OutcomeUnknownError of this program and account, or the JSON value of one of this service.');
  const { sentAt, endedAt, attempts, account, earlier, ...call } = value;
  const fields = [...new URLSearchParams(call.body ?? '')].map(([name, text]) => ({ name, text, shown: call.form[name] }));
  const prepared = { ...call, fields, values: { ...call.path, ...call.form }, options: {} };
  const sentOn = Date.parse(sentAt);
  const offset = clock.now() - dateOf(clock);
  const times = { sentAt: sentOn + offset, sentOn, endedAt: Date.parse(endedAt) + offset };
  const witness = earlier && { requestID: earlier.requestID, at: Date.parse(earlier.at) + offset };
  return { prepared, ...times, attempts, isStored: true, account, witness, isOfOtherKey: account === undefined || account !== own };
}

function isoOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function isLostCall(value: unknown): value is LostCall {
  if (!isRecord(value)) return false;
  const { operation, url, path, form, body, sentAt, endedAt, earlier } = value;
  const isDated = [sentAt, endedAt].every((time) => Date.parse(String(time)) > 0);
  const isWitnessed = earlier === undefined || (isRecord(earlier) && Date.parse(String(earlier['at'])) > 0);
  return (
    isDated &&
    isWitnessed &&
    [operation, path, form].every(isRecord) &&
    typeof url === 'string' &&
    (typeof body === 'string' || body === null)
  );
}
