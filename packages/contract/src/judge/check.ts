import type { OpenApiDocument } from '../document/document.ts';
import type { Issue } from '../document/issues.ts';
import type { MediaType, Operation, OperationResponse } from '../document/operation.ts';
import type { Validator } from '../document/validator.ts';
import type { Exchange, Purpose } from '../exchange/exchange.ts';
import type { Remark, RunRemark } from './finding.ts';

/** The input of a check of one response. */
export interface ResponseContext {
  readonly document: OpenApiDocument;
  readonly validator: Validator;
  readonly exchange: Exchange;
  /** All exchanges of the run. */
  readonly exchanges: readonly Exchange[];
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
 * A check is one file in `checks/`, named after its id. Its texts become its documentation page.
 */
export interface Check {
  /** Must not change: baselines, SARIF reports and documentation pages refer to it. */
  readonly id: string;
  /** The rule that it checks, in a sentence. */
  readonly claim: string;
  /** A response that has a finding, in one or two sentences. */
  readonly example?: string;
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
  /** Why no test of a few requests can show its findings. Default: it can. */
  readonly untestable?: string;
  /** Judges one response. */
  readonly checkResponse?: (subject: ResponseContext) => readonly Remark[];
  /** Judges all responses of a run together. */
  readonly checkRun?: (session: RunContext) => readonly RunRemark[];
}
