/** A request as it is sent, its response, and the meaning of the response. */
import type { ErrorClass, ErrorDetails, ResellerError } from './errors.ts';
import type { Values } from './form.ts';
import type { Operation } from './operation.ts';

/** The part of a request that its response must fit. */
export interface Asked {
  readonly operation: Pick<Operation, 'id' | 'effect' | 'has' | 'hasType' | 'hasRange' | 'repeats'>;
  /** Values of the path and of the form. */
  readonly values?: Values;
}

/** A request as it is sent. */
export interface WireRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | null;
  /** Whether it must not take effect twice. */
  readonly once?: boolean | undefined;
}

/** A whole response. */
export interface Received {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly text: string;
}

/** The meaning of a response. */
export type Verdict = Success | Failure;

export interface Success {
  readonly data: never;
  readonly requestID: string | null;
  readonly message: string;
}

export interface Failure<E extends ResellerError = ResellerError> {
  /** What was certainly not carried out: this attempt, or the request with all its attempts. Absent if neither is certain. */
  readonly notCarriedOut?: 'attempt' | 'request' | undefined;
  /** Whether a retry may succeed. */
  readonly transient: boolean;
  /** The error, when no retry follows. */
  readonly Class: ErrorClass<E>;
  readonly message: string;
  readonly details: Partial<ErrorDetails>;
  readonly cause?: unknown;
}
