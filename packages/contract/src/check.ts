import type { OpenApiDocument } from './document.ts';
import type { Exchange, Purpose } from './exchange.ts';
import type { Remark, RunRemark } from './finding.ts';
import type { FormReading } from './form.ts';
import type { Issue } from './issues.ts';
import type { MediaType, Operation, OperationResponse } from './operation.ts';
import type { Validator } from './validator.ts';

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

/** What all responses of a document have around their data, as far as they have it. */
export interface Envelope {
  /** Properties that every JSON response requires. */
  readonly required: readonly string[];
  /** The property that tells success from failure by a constant, with the constants of each. */
  readonly outcome: { readonly name: string; readonly success: readonly unknown[]; readonly failure: readonly unknown[] } | undefined;
  /** The property that identifies the request: a UUID that every response has. */
  readonly identifier: string | undefined;
  /** The property that holds what was asked for: null on failure unless described. */
  readonly payload: string | undefined;
}

/** What a check of a whole run looks at. */
export interface RunContext {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  readonly validator: Validator;
  readonly envelope: Envelope;
  readonly exchanges: readonly Exchange[];
  /** Responses of the service that is compared with, in pairs. */
  readonly pairs: readonly Pair[];
  /** Responses of the service that the compared one could not be asked for, as it named no identifier. */
  readonly unpaired: readonly Exchange[];
  /** Responses to requests for which the document has no operation. */
  readonly foreign: readonly Exchange[];
}

/** The same request, answered by both services. */
export interface Pair {
  readonly one: Exchange;
  readonly other: Exchange;
}

/**
 * A check: one file in `checks/`, named by its id. Its texts are its documentation, and its defect is its proof: the
 * selftest is red until a service with that defect, and none without it, is found out by this check.
 */
export interface Check {
  /** Stable: baselines, SARIF and the pages of the documentation name it. */
  readonly id: string;
  /** The rule that it checks, in a sentence. */
  readonly claim: string;
  /** How it judges and what it does not say, for people who doubt it. */
  readonly judges: string;
  /** The consequence of a finding for users of the generated client. */
  readonly client: string;
  /** Whose fault a finding is; the service's where it is left out. */
  readonly about?: 'client';
  /** Whether it has anything to say of an operation. */
  readonly applies: (operation: Operation, document: OpenApiDocument) => boolean;
  /** Only responses to requests of these purposes say something to it; all responses where it is left out. */
  readonly needs?: readonly Purpose[];
  /** Whether it looks at responses with a status that is not described: too, or at nothing else. Left out, it has nothing to say of them. */
  readonly undescribed?: 'also' | 'only';
  /** Whether a remark of this check leaves nothing for the later ones to say of the same response. */
  readonly isFinal?: boolean;
  /** Looks at one response. */
  readonly checkResponse?: (subject: ResponseContext) => readonly Remark[];
  /** Looks at all responses together. */
  readonly checkRun?: (session: RunContext) => readonly RunRemark[];
  readonly defect: Defect;
}

/** Something that a service could get wrong, and that only one check is there to find. */
export interface Defect {
  /** What is wrong, as a sentence. */
  readonly description: string;
  /** Returns the defective response, or undefined where the defect has no effect. */
  readonly tamper: (exchange: FakeExchange) => FakeResponse | undefined;
  /** The form that a client with the defect sends in place of a good one, where it is the client that has it. */
  readonly alterForm?: (form: string) => string | undefined;
  /** A path that a client with the defect asks for, where it is the client that has it. */
  readonly undescribedPath?: string;
  /** Whether the defect shows only in comparison with a second service. */
  readonly needsComparison?: boolean;
}

/** What the server of the selftest was asked, and what a correct server returns. */
export interface FakeExchange {
  readonly document: OpenApiDocument;
  /** The operation that was asked for; undefined where path or method is not described. */
  readonly operation: Operation | undefined;
  readonly method: string;
  /** Why the correct response is what it is. */
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
  /** What success would be, also where it was refused; on demand, that of the first page whichever was asked for. */
  readonly success: (page?: 'first page') => FakeResponse;
}

/** A response before it goes out. */
export interface FakeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Whether the connection ends in the middle of the body. */
  readonly isCut?: boolean;
}
