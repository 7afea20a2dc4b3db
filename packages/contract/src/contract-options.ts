import type { OpenApiDocument } from './document.ts';
import type { Extension } from './extension.ts';
import type { Send } from './guard.ts';
import type { Journal } from './journal.ts';
import type { Mode, NamedOperations } from './plan.ts';
import type { Budget, PriceOf } from './price.ts';

export interface ContractOptions {
  readonly document: OpenApiDocument;
  /** Base address, with or without a path. */
  readonly target: URL;
  /** Sent as the document says: as a header, bearer token, `user:password`, query parameter or cookie. */
  readonly apiKey?: string;
  /** How requests leave; the global `fetch` when omitted. */
  readonly send?: Send;
  /** `read-only` when omitted. */
  readonly mode?: Mode;
  /** Restricts the run to these operations, each with the identifier that it may be used on; all that need not be named when omitted. */
  readonly only?: NamedOperations;
  /** Adds operations that have to be named to the run, each with the identifier that it may be used on. */
  readonly also?: NamedOperations;
  /** How much may be spent; nothing when omitted. */
  readonly budget?: Budget;
  /** What things cost; unknown when omitted. */
  readonly priceOf?: PriceOf;
  /** Which invalid forms are sent, and in which order; 1 when omitted. */
  readonly seed?: number;
  /** Requests per second; unlimited when omitted. */
  readonly rate?: number;
  /** Milliseconds until a request without a response is abandoned; 10,000 when omitted. */
  readonly timeout?: number;
  /** A second service that should return the same shapes. */
  readonly compare?: { readonly target: URL; readonly apiKey: string | undefined };
  /** Where changes are recorded; required in full mode. */
  readonly journal?: Journal;
  /** Rules of this API that its document cannot state. */
  readonly extensions?: readonly Extension[];
  /** Further texts that no report may contain, such as the token of an extension. */
  readonly secrets?: readonly string[];
  /** What readers of the report should know of the document, such as that it was upgraded. */
  readonly notes?: readonly string[];
  /** Called before every request. */
  readonly onRequest?: (progress: Omit<Progress, 'status'>) => void;
  /** Called after every request. */
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly done: number;
  /** The most requests that the plan allows. */
  readonly planned: number;
  readonly step: string;
  /** Undefined where no response came. */
  readonly status: number | undefined;
}

/** The target did not respond even to the first request; `cause` is what `send` threw. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}
