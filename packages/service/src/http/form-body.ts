import { readForm } from '@reseller/contract';
import type { FormReading, Operation } from '@reseller/contract';

/** A body that was read as the form of an operation. */
export interface BodyReading extends FormReading {
  /** The fields as they were sent, for the log. */
  readonly sent: Readonly<Record<string, unknown>>;
  /** The expected format, for the message about an unreadable body. Undefined for a form. */
  readonly expected?: string;
}

/** The body of a request, as a content type parser returns it. */
export class FormBody {
  readonly reading: BodyReading;

  constructor(reading: BodyReading) {
    this.reading = reading;
  }
}

/** Reads application/x-www-form-urlencoded. If the operation takes no form, the fields are read so that they can be refused. */
export function readFormBody(operation: Operation, bytes: Uint8Array): BodyReading {
  const reading = readForm(operation, bytes);
  return { ...reading, sent: reading.values };
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
