import type { JsonObject } from './json.ts';
import type { Provenance } from './provenance.ts';

/** A JSON Schema as the document holds it, after following references at its top. */
export type Schema = JsonObject | boolean;

/** One operation of the document, as data. */
export interface Operation {
  /** The operationId, or method and path where the document gives none. */
  readonly id: string;
  /** In capitals: `PUT`. */
  readonly method: string;
  /** Path template: `/vm/{vmid}/reinstall`. */
  readonly path: string;
  readonly pointer: string;
  readonly summary: string;
  readonly tag: string | undefined;
  readonly provenance: Provenance;
  /** Costs money each time it succeeds (`x-billable`). */
  readonly billable: boolean;
  /** Changes nothing: GET, HEAD, OPTIONS, or `x-read-only`. */
  readonly readOnly: boolean;
  /** Whether sending it again after a lost response is harmless; without `x-retry`, only what is read-only is. */
  readonly retry: 'safe' | 'never';
  /** The credential that it takes; undefined where it takes none. */
  readonly security: Security | undefined;
  /** Why no request can carry the credentials that it needs; undefined where one can. */
  readonly unsupportedSecurity: string | undefined;
  readonly parameters: readonly Parameter[];
  /** The body that it takes: a form, else JSON. */
  readonly body: RequestBody | undefined;
  /** The same where it is a form. */
  readonly form: Form | undefined;
  /** Why no request can have the body that it needs; undefined where one can. */
  readonly unsupportedBody: string | undefined;
  /** Keyed by what the document writes: `200`, `4XX`, `default`. */
  readonly responses: Readonly<Record<string, OperationResponse>>;
}

export interface Security {
  /** Name of the security scheme. */
  readonly scheme: string;
  /** An API key as it is, a bearer token, or user and password. */
  readonly kind: 'key' | 'bearer' | 'basic';
  readonly in: 'header' | 'query' | 'cookie';
  /** Name of the header, query parameter or cookie, as written. */
  readonly name: string;
  /** Whether the document allows requests without it as well. */
  readonly optional: boolean;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required: boolean;
  /** Pointer to its schema, for `Validator.compile`; undefined where it has none. */
  readonly pointer: string | undefined;
  readonly schema: Schema;
  readonly provenance: Provenance;
  readonly examples: readonly unknown[];
  /** Where it is, after following references. */
  readonly holder: string;
  /** Whether the items of a list are sent as parameters of their own: `a=1&a=2`. */
  readonly explode: boolean;
}

/** A body of type `application/x-www-form-urlencoded`. */
export interface Form extends RequestBody {
  readonly format: 'form';
  /** The media type's `encoding` as written. */
  readonly encoding: Readonly<Record<string, unknown>>;
}

/** A body whose fields are known: a form, or a JSON object. */
export interface RequestBody {
  readonly format: 'form' | 'json';
  /** As the document writes it: the content type of requests. */
  readonly mediaType: string;
  /** Pointer to its schema, for `Validator.compile` and `maskSecrets`. */
  readonly pointer: string;
  readonly schema: Schema;
  /** Whether the operation needs a body at all. */
  readonly required: boolean;
  /** What reading and writing need to know of each property. */
  readonly fields: ReadonlyMap<string, FormField>;
  readonly examples: Readonly<Record<string, Example>>;
}

export type ScalarKind = 'string' | 'integer' | 'number' | 'boolean';

export interface FormField {
  readonly name: string;
  readonly pointer: string;
  readonly required: boolean;
  /** How the text becomes a value; `json` for objects, `unsupported` for a style that forms here do not speak. */
  readonly kind: ScalarKind | 'array' | 'json' | 'unsupported';
  /** Kind of the items of an array. */
  readonly items: ScalarKind;
  /** The separator between the items of an array that is written in one piece; undefined where the field is repeated. */
  readonly separator: ',' | ' ' | '|' | undefined;
  readonly secret: boolean;
}

export interface OperationResponse {
  /** Where it stands, after following references. */
  readonly holder: string;
  readonly description: string;
  readonly provenance: Provenance;
  /** Keyed by media type in lower case, without parameters. */
  readonly content: Readonly<Record<string, MediaType>>;
  /** Keyed by name in lower case. */
  readonly headers: Readonly<Record<string, Header>>;
  readonly links: readonly Link[];
}

export interface MediaType {
  /** Where it stands; its schema is below. */
  readonly holder: string;
  /** Pointer to its schema, for `Validator.compile`; undefined where it has none. */
  readonly pointer: string | undefined;
  readonly schema: Schema;
  readonly examples: Readonly<Record<string, Example>>;
}

export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

export interface Header {
  readonly name: string;
  readonly required: boolean;
  readonly pointer: string | undefined;
  readonly schema: Schema;
  readonly provenance: Provenance;
}

/** Where a response leads: parameter names of another operation, with the runtime expressions that fill them. */
export interface Link {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
}
