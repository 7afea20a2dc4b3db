import type { OpenApiDocument } from '../document/document.ts';
import { isObject, member } from '../document/json.ts';
import type { JsonObject } from '../document/json.ts';
import type { OperationResponse } from '../document/operation.ts';
import { valueAt } from '../document/pointer.ts';
import { rootView } from '../document/view.ts';
import type { View } from '../document/view.ts';
import { jsonOf, jsonValue, isSuccess } from '../exchange/exchange.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { HTTP_HEADERS } from '../exchange/http-headers.ts';
import type { ResponseContext } from './check.ts';
import { isMap, OBSERVED, shapeSchema } from './infer.ts';
import type { Proposal } from './proposal.ts';

/**
 * A kind of request for which an operation returned a response in a contract test. The document records it in a key `x-for-…` of the
 * response (openapi/EXTENSIONS.md) for later runs, because no schema can express it.
 */
export type Occasion = 'x-for-no-key' | 'x-for-unknown-id' | 'x-for-removed' | 'x-for-invalid-form' | 'x-for-valid-form';

const TEXT = 'observed';
const UUID = '00000000-0000-4000-8000-000000000000';
const INSTANT = '2026-01-01T00:00:00.000Z';

/** Whether the document allows a response on an occasion. */
export function isKnownFor(document: OpenApiDocument, response: OperationResponse | undefined, occasion: Occasion): boolean {
  const written = response === undefined ? undefined : valueAt(document, response.holder);
  return isObject(written) && member(written, occasion) === true;
}

/** The change that allows a response on an occasion. It adds the response itself if the document does not have it. */
export function occasionProposal({ document, validator, exchange, response }: ResponseContext, occasion: Occasion): Proposal {
  return response === undefined
    ? {
        kind: 'add-entry',
        at: `${exchange.operation.pointer}/responses`,
        key: String(exchange.status),
        value: { ...observedResponse({ document, validator, exchange }), [occasion]: true },
      }
    : { kind: 'add-entry', at: response.holder, key: occasion, value: true };
}

/** Describes an observed response for the document, without values that could be secrets. */
export function observedResponse({
  document,
  validator,
  exchange,
}: Pick<ResponseContext, 'document' | 'validator' | 'exchange'>): JsonObject {
  const { body, mediaType } = exchange;
  const names = Object.keys(exchange.headers).filter((name) => !HTTP_HEADERS.test(name));
  const headers = names.length === 0 ? {} : { headers: Object.fromEntries(names.map((name) => [name, observedHeader(document, name)])) };
  const base = { description: OBSERVED, 'x-provenance': 'not-shown', ...headers };
  if (body.kind === 'empty') return base;
  if (body.kind !== 'json') return { ...base, content: { [mediaType === '' ? '*/*' : mediaType]: observedText() } };
  const known = describedElsewhere({ document, validator, exchange });
  const schema = known?.written ?? shapeSchema(body.value);
  const example = exampleFrom(known === undefined ? undefined : rootView(document, known.pointer), body.value);
  // An example must be valid: the made-up values may break a rule, such as a pattern.
  const isFit = known === undefined || validator.compile(known.pointer)(example).length === 0;
  return {
    ...base,
    content: {
      'application/json': { schema, ...(isFit ? { examples: { observed: { summary: 'Observed shape', value: example } } } : {}) },
    },
  };
}

/** Describes an observed response header: by the described header of that name in other responses, else as a string. */
export function observedHeader(document: OpenApiDocument, name: string): JsonObject {
  return headerDescribedElsewhere(document, name) ?? { description: OBSERVED, 'x-provenance': 'inferred', schema: { type: 'string' } };
}

/** A reference to the header with the same name in another response. */
function headerDescribedElsewhere({ paths = {} }: OpenApiDocument, name: string): JsonObject | undefined {
  for (const item of Object.values(paths)) {
    for (const operation of Object.values(Object(item))) {
      for (const response of Object.values(Object(Object(operation).responses))) {
        for (const [key, header] of Object.entries(Object(Object(response).headers)))
          if (key.toLowerCase() === name && isObject(header) && header['$ref'] !== undefined) return header;
      }
    }
  }
  return undefined;
}

/** The media type object for a body that is empty or not JSON. */
export function observedText(isEmpty = false): JsonObject {
  const [schema, value] = isEmpty ? [{ type: 'string', maxLength: 0 }, ''] : [{ type: 'string' }, TEXT];
  return { schema, examples: { observed: { summary: 'Observed shape', value } } };
}

/** A described failure, or success, of the operation whose schema the body also matches: then the change is a reference. */
export function describedElsewhere({
  document,
  validator,
  exchange,
}: Pick<ResponseContext, 'document' | 'validator' | 'exchange'>): { readonly pointer: string; readonly written: JsonObject } | undefined {
  return schemasOf(exchange, (status) => status.startsWith('2') === isSuccess(exchange.status))
    .map((pointer) => ({ pointer, written: valueAt(document, pointer) }))
    .filter((one): one is { pointer: string; written: JsonObject } => isObject(one.written) && one.written['$ref'] !== undefined)
    .find(({ pointer }) => validator.compile(pointer)(jsonValue(exchange)).length === 0);
}

/** Pointers to the JSON schemas that an operation describes for some of its statuses. */
export function schemasOf({ operation }: Exchange, isWanted: (status: string) => boolean): readonly string[] {
  return Object.entries(operation.responses)
    .filter(([status]) => isWanted(status))
    .map(([, response]) => jsonOf(response)?.pointer)
    .filter((pointer) => pointer !== undefined);
}

/** An example with the shape of a value. It keeps only values that the document has as `const` or `enum`. */
function exampleFrom(view: View | undefined, value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map((item) => exampleFrom(view?.member(0).view, item));
  if (isObject(value)) {
    // One entry of a map is enough.
    const isDescribed = view !== undefined && view.nodes.length > 0;
    const isKeyed = isDescribed ? Object.keys(value).every((name) => !view.member(name).isNamed) : isMap(value);
    const entries = isKeyed ? Object.entries(value).slice(0, 1) : Object.entries(value);
    return Object.fromEntries(entries.map(([name, item]) => [isKeyed ? TEXT : name, exampleFrom(view?.member(name).view, item)]));
  }
  if (typeof value === 'number') return isNamed(view, value) ? value : 1;
  if (typeof value !== 'string' || isNamed(view, value)) return value;
  const { format } = shapeSchema(value);
  return format === 'uuid' ? UUID : format === 'date-time' ? INSTANT : TEXT;
}

function isNamed(view: View | undefined, value: unknown): boolean {
  return (view?.nodes ?? []).some(
    ({ schema }) => schema['const'] === value || (Array.isArray(schema['enum']) && schema['enum'].includes(value)),
  );
}
