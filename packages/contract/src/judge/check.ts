import type { OpenApiDocument } from '../document/document.ts';
import type { Issue } from '../document/issues.ts';
import type { MediaType, Operation, OperationResponse } from '../document/operation.ts';
import type { Validator } from '../document/validator.ts';
import type { Exchange, Purpose } from '../exchange/exchange.ts';
import type { FormReading } from '../form/form.ts';
import type { Remark, RunRemark } from './finding.ts';

/** The input of a check of one response. */
export interface ResponseContext {
  readonly document: OpenApiDocument;
  readonly validator: Validator;
  readonly exchange: Exchange;
  /** The document's description of the status; undefined if it has none. */
  readonly response: OperationResponse | undefined;
  /** The JSON that the document describes for the status. */
  readonly json: MediaType | undefined;
  readonly envelope: Envelope;
  /** The rules that the body breaks, worked out once for all checks. */
  readonly issues: () => readonly Issue[];
}

/** The properties that all JSON responses of a document share. */
export interface Envelope {
  /** Properties that every JSON response requires. */
  readonly required: readonly string[];
  /** The property that distinguishes success from failure by a constant, and its constants. */
  readonly outcome: { readonly name: string; readonly success: readonly unknown[]; readonly failure: readonly unknown[] } | undefined;
  /** The property with the UUID of the request. */
  readonly identifier: string | undefined;
  /** The property with the requested data. It is null on failure unless the document describes otherwise. */
  readonly payload: string | undefined;
}

/** The input of a check of a whole run. */
export interface RunContext {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  readonly validator: Validator;
  readonly envelope: Envelope;
  readonly exchanges: readonly Exchange[];
  /** Recorded exchanges that match no operation of the document. */
  readonly foreign: readonly Exchange[];
}

/**
 * A check is one file in `checks/`, named after its id. Its texts become its documentation page. The selftest fails unless the
 * check finds its defect in a service that has it, and nothing in a service without defects.
 */
export interface Check {
  /** Must not change: baselines, SARIF reports and documentation pages refer to it. */
  readonly id: string;
  /** The rule that it checks, in a sentence. */
  readonly claim: string;
  /** How it decides, and its limits. */
  readonly judges: string;
  /** The consequence of a finding for users of the generated client. */
  readonly client: string;
  /** Whether a finding concerns the service or the client. Default: the service. */
  readonly about?: 'client';
  /** Whether it can have findings on an operation. */
  readonly applies: (operation: Operation, document: OpenApiDocument) => boolean;
  /** The purposes of requests whose responses it judges. Default: all. */
  readonly needs?: readonly Purpose[];
  /** Whether it judges responses with an undescribed status: also those, or only those. Default: not those. */
  readonly undescribed?: 'also' | 'only';
  /** Whether later checks of the same response are skipped after a remark of this one. */
  readonly isFinal?: boolean;
  /** Judges one response. */
  readonly checkResponse?: (subject: ResponseContext) => readonly Remark[];
  /** Judges all responses of a run together. */
  readonly checkRun?: (session: RunContext) => readonly RunRemark[];
  readonly defect: Defect;
}

/** A mistake of a service or a client that one check must find. */
export interface Defect {
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
