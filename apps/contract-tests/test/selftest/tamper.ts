import { pointerTokens, responseFor } from '@reseller/contract';
import { jsonOf, replaced, walkDescribed } from '@reseller/contract/engine';
import type { Place } from '@reseller/contract/engine';

import type { FakeExchange, FakeResponse } from './defect.ts';

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Changes the first matching part of a correct response; undefined when there is none. */
export function alterFirst(
  exchange: FakeExchange,
  isMatch: (place: Place) => boolean,
  change: (place: Place) => unknown,
): FakeResponse | undefined {
  const { response } = exchange;
  const found = placesOf(exchange).find(isMatch);
  if (found === undefined) return undefined;
  return { ...response, body: replaced(response.body, found.pointer, change(found)) };
}

/** Removes the first matching part of a correct response. */
export function dropFirst(exchange: FakeExchange, isMatch: (place: Place) => boolean): FakeResponse | undefined {
  return alterFirst(exchange, isMatch, () => undefined);
}

/** The parts of a successful response with their schemas; empty for other responses. */
function placesOf({ document, operation, outcome, response }: FakeExchange): readonly Place[] {
  const described = operation === undefined ? undefined : responseFor(operation, response.status);
  const pointer = described === undefined ? undefined : jsonOf(described)?.pointer;
  if (outcome !== 'success' || described === undefined || pointer === undefined) return [];
  const places: Place[] = [];
  walkDescribed(document, { pointer, provenance: described.provenance }, response.body, (place) => {
    places.push(place);
    return true;
  });
  return places;
}

/** Whether a part is in the payload, not the envelope, and its provenance is `shown`. */
export function isPayload({ pointer, nodes }: Place): boolean {
  return pointerTokens(pointer).length > 1 && nodes.length > 0 && nodes.every(({ provenance }) => provenance === 'shown');
}

/** Adds top-level members to the body of a response. */
export function withMembers(response: FakeResponse, members: Readonly<Record<string, unknown>>): FakeResponse {
  return { ...response, body: { ...Object(response.body), ...members } };
}

/** A refusal with another status; undefined when the document has no example. */
export function tamperEnvelope({ operation, outcome, response }: FakeExchange, status: number): FakeResponse | undefined {
  const refusal = Object.values(operation?.responses['401']?.content['application/json']?.examples ?? {})[0]?.value;
  if (outcome !== 'success' || !isObject(refusal)) return undefined;
  return refusalLike(response, status, refusal);
}

/** Replaces the body of a response by an example, but keeps its request identifier, which must be unique. */
export function refusalLike(response: FakeResponse, status: number, example: unknown): FakeResponse {
  const own = isObject(response.body) ? response.body['requestID'] : undefined;
  return { ...response, status, body: { ...Object(example), ...(own === undefined ? {} : { requestID: own }) } };
}
