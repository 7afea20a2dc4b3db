import type { FormReading, OpenApiDocument, Operation } from '@reseller/contract';

/** A mistake of a service or a client that a check must find. */
export interface Defect {
  /** The id of the check. */
  readonly check: string;
  /** The mistake, as a sentence. */
  readonly description: string;
  /** Returns the defective response, or undefined where the defect has no effect. */
  readonly tamper: (exchange: FakeExchange) => FakeResponse | undefined;
  /** For a defect of a client: the invalid form that it sends instead of a valid one. */
  readonly alterForm?: (form: string) => string | undefined;
  /** For a defect of a client: the undescribed path that it requests. */
  readonly undescribedPath?: string;
}

/** A request to the fake service of the selftest, and the response of a correct service. */
export interface FakeExchange {
  readonly document: OpenApiDocument;
  /** Undefined when the document does not describe the path or the method. */
  readonly operation: Operation | undefined;
  readonly method: string;
  /** The reason for the correct response. */
  readonly outcome:
    | 'success'
    | 'unauthorized'
    | 'invalid-form'
    | 'invalid-parameter'
    | 'unknown-id'
    | 'removed'
    | 'wrong-method'
    | 'not-found';
  readonly key: 'account' | 'none' | 'wrong';
  /** The credential that came with the request. */
  readonly credential?: string | undefined;
  readonly form: FormReading | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly response: FakeResponse;
  /** Returns the successful response, even when the correct one is a refusal; with `first page`, that of the first page. */
  readonly success: (page?: 'first page') => FakeResponse;
}

/** A response of the fake service, before it is sent. */
export interface FakeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Whether the connection closes before the body is complete. */
  readonly isCut?: boolean;
}
