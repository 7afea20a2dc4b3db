import type { OpenApiDocument } from '../document/document.ts';
import type { GivenValues } from '../document/parameters.ts';
import type { Extension } from './extension.ts';
import type { Send } from './guard.ts';
import type { Journal } from './journal.ts';
import type { Mode, NamedOperations } from './planning.ts';
import type { Budget, PriceOf } from './price.ts';

export interface ContractOptions {
  readonly document: OpenApiDocument;
  /** Base address; it may have a path. */
  readonly target: URL;
  /** Sent as the document says: as a header, bearer token, `user:password`, query parameter or cookie. */
  readonly apiKey?: string;
  /** Credentials by the name of a security scheme, before `apiKey`. For OAuth 2 client credentials: `client_id:client_secret`. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** Called with each token that the run gets. */
  readonly onToken?: (token: string) => void;
  /** Sends the requests. Default: the global `fetch`. */
  readonly send?: Send;
  /** Default: `read-only`. */
  readonly mode?: Mode;
  /** Restricts the run to these operations, each with the resource that it may use. Default: all operations that need not be named. */
  readonly only?: NamedOperations;
  /** Adds operations that must be named to the run, each with the resource that it may use. */
  readonly also?: NamedOperations;
  /** Operations that the run must not call. */
  readonly except?: ReadonlySet<string>;
  /** How much the run may spend. Default: nothing. */
  readonly budget?: Budget;
  /** Returns the price of a purchase. Default: unknown. */
  readonly priceOf?: PriceOf;
  /** Determines the order of invalid forms, and the names of new resources. Default: 1. */
  readonly seed?: number;
  /** The maximum number of valid requests for each operation in full mode. Default: 10. */
  readonly requests?: number;
  /** Values of parameters, and headers that every request has. */
  readonly given?: GivenValues;
  /** Ends the run early: it only undoes what it made. The request in progress ends first. */
  readonly signal?: AbortSignal;
  /** Requests per second. Default: unlimited. */
  readonly rate?: number;
  /** Timeout of a request in milliseconds. Default: 10,000. */
  readonly timeout?: number;
  /** Records the changes. Required in full mode. */
  readonly journal?: Journal;
  /** Rules of one API that its document cannot express. */
  readonly extensions?: readonly Extension[];
  /** More secrets that no report may contain, such as the token of an extension. */
  readonly secrets?: readonly string[];
  /** Notes about the document for readers of the report, such as that it was upgraded. */
  readonly notes?: readonly string[];
  /** Called before every request. */
  readonly onRequest?: (progress: Omit<Progress, 'status'>) => void;
  /** Called after every request. */
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly done: number;
  /** The maximum number of requests of the plan. */
  readonly planned: number;
  readonly step: string;
  /** Undefined when there was no response. */
  readonly status: number | undefined;
}

/** The target did not respond to the first request; `cause` is the error of `send`. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}
