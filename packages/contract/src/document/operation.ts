import type { JsonObject } from './json.ts';
import type { Provenance } from './provenance.ts';

/** A JSON Schema of the document, after following a reference. */
export type Schema = JsonObject | boolean;

export interface Operation {
  /** The operationId, or method and path when there is none. */
  readonly id: string;
  /** In upper case: `PUT`. */
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
  /** Removes what no other operation brings back (`x-destructive`). */
  readonly destructive: boolean;
  /** Whether a success shows a list under the name of the collection, so that one request can make several resources. */
  readonly makesSeveral: boolean;
  /** Whether a retry after a lost response is safe (`x-retry`). Default: only for read-only operations. */
  readonly retry: 'safe' | 'never';
  /** Its credentials, or undefined. */
  readonly security: Security | undefined;
  /** The first server of its own, which is not that of the document; undefined if it has none. */
  readonly ownServer?: string | undefined;
  /** Why the required credentials cannot be sent, or undefined. */
  readonly unsupportedSecurity: string | undefined;
  readonly parameters: readonly Parameter[];
  /** Its body: a form, else JSON. */
  readonly body: RequestBody | undefined;
  /** Its body as each other media type that can be built. */
  readonly otherBodies?: readonly RequestBody[];
  /** All media types of its body, in lower case without parameters. */
  readonly bodyTypes?: readonly string[];
  /** Its body when that is a form. */
  readonly form: Form | undefined;
  /** Why the required body cannot be sent, or undefined. */
  readonly unsupportedBody: string | undefined;
  /** By the keys of the document: `200`, `4XX`, `default`. */
  readonly responses: Readonly<Record<string, OperationResponse>>;
}

/** The parts of a placeholder for an operation of which only method and path are known. */
export const UNDESCRIBED: Omit<Operation, 'id' | 'method' | 'path' | 'pointer'> = {
  summary: '',
  tag: undefined,
  provenance: 'shown',
  billable: false,
  readOnly: false,
  destructive: false,
  makesSeveral: false,
  retry: 'never',
  security: undefined,
  unsupportedSecurity: undefined,
  parameters: [],
  body: undefined,
  form: undefined,
  unsupportedBody: undefined,
  responses: {},
};

export interface Security {
  /** The keys of a request, which are sent together. Most operations need one. */
  readonly keys: readonly SecurityKey[];
  /** Whether the document also allows requests without them. */
  readonly optional: boolean;
}

export interface SecurityKey {
  /** Name of the security scheme. */
  readonly scheme: string;
  /** An API key, a bearer token, or user and password. */
  readonly kind: 'key' | 'bearer' | 'basic';
  readonly in: 'header' | 'query' | 'cookie';
  /** Name of the header, query parameter or cookie, as written. */
  readonly name: string;
  /** The scopes that a token needs. */
  readonly scopes: readonly string[];
  /** The environment variable with the key in printed commands. */
  readonly variable: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required: boolean;
  /** Pointer to its schema, for `Validator.compile`; undefined without a schema. */
  readonly pointer: string | undefined;
  readonly schema: Schema;
  readonly provenance: Provenance;
  readonly examples: readonly unknown[];
  /** Pointer to the object, after following references. */
  readonly holder: string;
  /** How lists and objects are written: `form`, `simple`, `deepObject` and others. */
  readonly style: string;
  /** Whether list items are sent as separate parameters: `a=1&a=2`. */
  readonly explode: boolean;
}

/** A body of type `application/x-www-form-urlencoded` or `multipart/form-data`. */
export interface Form extends RequestBody {
  readonly format: 'form';
  /** The media type's `encoding` as written. */
  readonly encoding: Readonly<Record<string, unknown>>;
}

/** A body: a form, JSON, or a text that is sent as it is. */
export interface RequestBody {
  readonly format: 'form' | 'json' | 'text';
  /** The content type of requests. */
  readonly mediaType: string;
  /** Whether it is a text, or JSON that is not an object, such as a list. It has no fields. */
  readonly isWhole: boolean;
  /** Pointer to its schema, for `Validator.compile` and `maskSecrets`. */
  readonly pointer: string;
  readonly schema: Schema;
  /** Whether the operation requires a body. */
  readonly required: boolean;
  /** How to parse and serialise each property. */
  readonly fields: ReadonlyMap<string, FormField>;
  readonly examples: Readonly<Record<string, Example>>;
}

export type ScalarKind = 'string' | 'integer' | 'number' | 'boolean';

export interface FormField {
  /** Whether the field is a file of a `multipart/form-data` body. */
  readonly isFile: boolean;
  /** The content type of its part of a `multipart/form-data` body; undefined for the default. */
  readonly contentType?: string | undefined;
  readonly name: string;
  readonly pointer: string;
  readonly required: boolean;
  /** How a text is converted to a value; `json` for objects, `unsupported` for an unsupported style. */
  readonly kind: ScalarKind | 'array' | 'json' | 'unsupported';
  /** Kind of the items of an array. */
  readonly items: ScalarKind;
  /** The separator between array items in one field; undefined when the field is repeated. */
  readonly separator: ',' | ' ' | '|' | undefined;
  readonly secret: boolean;
}

export interface OperationResponse {
  /** Pointer to the object, after following references. */
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
  /** Pointer to the media type object. */
  readonly holder: string;
  /** Pointer to its schema, for `Validator.compile`; undefined without a schema. */
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
  /** Whether an object is written as `name=value`. */
  readonly explode: boolean;
  /** Whether the text is JSON (`content`), not in the style `simple`. */
  readonly isJson: boolean;
  readonly pointer: string | undefined;
  readonly schema: Schema;
  readonly provenance: Provenance;
}

/** An OpenAPI link: the parameters of another operation, with the runtime expressions for their values. */
export interface Link {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
}
