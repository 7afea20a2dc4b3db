import type { OpenApiDocument } from './document.ts';
import type { Extension } from './extension.ts';
import type { Send } from './guard.ts';
import type { Journal } from './journal.ts';
import type { Mode } from './plan.ts';
import type { Budget, PriceOf } from './price.ts';

export interface ContractOptions {
  readonly document: OpenApiDocument;
  /** Base address, with or without a path. */
  readonly target: URL;
  /** Sent in the header that the document names; nothing is sent without it. */
  readonly apiKey?: string;
  /** How requests leave; the global `fetch` when omitted. */
  readonly send?: Send;
  /** `read-only` when omitted. */
  readonly mode?: Mode;
  /** Operations by name, each with the identifier it may be used on; all that need not be named when omitted. */
  readonly only?: ReadonlyMap<string, string | undefined>;
  /** How much may be spent; nothing when omitted. */
  readonly budget?: Budget;
  /** What things cost; unknown when omitted. */
  readonly priceOf?: PriceOf;
  /** Which invalid forms are sent, and in which order; 1 when omitted. */
  readonly seed?: number;
  /** Requests per second; unlimited when omitted. */
  readonly rate?: number;
  /** Milliseconds until a request without an answer is abandoned; 10,000 when omitted. */
  readonly timeout?: number;
  /** A second service that should return the same shapes. */
  readonly compare?: { readonly target: URL; readonly apiKey: string | undefined };
  /** Where changes are recorded; required in full mode. */
  readonly journal?: Journal;
  /** Rules of this API that its document cannot state. */
  readonly extensions?: readonly Extension[];
  /** Further texts that no report may contain, such as the token of an extension. */
  readonly secrets?: readonly string[];
  /** Called after every request. */
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly done: number;
  /** The most requests that the plan allows. */
  readonly planned: number;
  readonly step: string;
  /** Undefined where no answer came. */
  readonly status: number | undefined;
}

/** The target did not answer even the first request; `cause` is what `send` threw. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}
