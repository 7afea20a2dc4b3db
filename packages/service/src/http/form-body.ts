import { readForm } from '@reseller/contract';
import type { FormReading, Operation } from '@reseller/contract';

/** A body that was read as the form of an operation. */
export interface BodyReading extends FormReading {
  /** The fields as they were sent, for the log. */
  readonly sent: Readonly<Record<string, unknown>>;
  /** The number of fields that the form may have, if it has more. Nothing of such a form is read. */
  readonly maxFields?: number;
}

/** Fields that a form may have in addition to those of its operation. The response names the unknown ones. */
const MAX_FURTHER_FIELDS = 16;
const AMPERSAND = 38;

/** The body of a request, as a content type parser returns it. */
export class FormBody {
  readonly reading: BodyReading;

  constructor(reading: BodyReading) {
    this.reading = reading;
  }
}

/** Reads application/x-www-form-urlencoded. If the operation takes no form, the fields are read so that they can be refused. */
export function readFormBody(operation: Operation, bytes: Uint8Array): BodyReading {
  const maxFields = (operation.form?.fields.size ?? 0) + MAX_FURTHER_FIELDS;
  if (hasMoreFields(bytes, maxFields)) return { values: {}, sent: {}, issues: [], maxFields };
  const reading = readForm(operation, bytes);
  return { ...reading, sent: reading.values };
}

function hasMoreFields(bytes: Uint8Array, max: number): boolean {
  let at = -1;
  for (let count = 0; count < max; count++) {
    at = bytes.indexOf(AMPERSAND, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** The readings of requests without a body, which are the same for each operation. */
const withoutBody = new WeakMap<Operation, BodyReading>();

/** The form of a request. Empty if the request has no body. */
export function formOf(operation: Operation, body: unknown): BodyReading {
  if (body instanceof FormBody) return body.reading;
  const reading = withoutBody.get(operation) ?? readFormBody(operation, new Uint8Array());
  withoutBody.set(operation, reading);
  return reading;
}
