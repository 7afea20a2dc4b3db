import type { FakeExchange, FakeResponse } from './check.ts';
import { jsonOf } from './exchange.ts';
import { isObject } from './json.ts';
import { responseFor } from './operations.ts';
import { walkDescribed } from './place.ts';
import type { Place } from './place.ts';
import { pointerTokens } from './pointer.ts';
import { replaced } from './replace.ts';

/** Changes the first part of a good response of which `isIt` is true; undefined where there is none. For the defects of checks. */
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

/** Takes the first part of a good response away of which `isIt` is true. */
export function dropFirst(exchange: FakeExchange, isMatch: (place: Place) => boolean): FakeResponse | undefined {
  return alterFirst(exchange, isMatch, () => undefined);
}

/** The parts of a successful response with their schemas; none for other responses. */
export function placesOf({ document, operation, outcome, response }: FakeExchange): readonly Place[] {
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

/** Whether a part belongs to the requested data, not to the envelope, and the document shows it. */
export function isPayload({ pointer, nodes }: Place): boolean {
  return pointerTokens(pointer).length > 1 && nodes.length > 0 && nodes.every(({ provenance }) => provenance === 'shown');
}

/** The body of a response with further members at its top. */
export function withMembers(response: FakeResponse, members: Readonly<Record<string, unknown>>): FakeResponse {
  return { ...response, body: { ...Object(response.body), ...members } };
}

/** A refusal of the operation with another status; undefined where the document has no example of one. */
export function tamperEnvelope({ operation, outcome, response }: FakeExchange, status: number): FakeResponse | undefined {
  const refusal = Object.values(operation?.responses['401']?.content['application/json']?.examples ?? {})[0]?.value;
  if (outcome !== 'success' || !isObject(refusal)) return undefined;
  return refusalLike(response, status, refusal);
}

/** A response with the body of an example, which keeps the identifier of its own request: else two of them would name the same one. */
export function refusalLike(response: FakeResponse, status: number, example: unknown): FakeResponse {
  const own = isObject(response.body) ? response.body['requestID'] : undefined;
  return { ...response, status, body: { ...Object(example), ...(own === undefined ? {} : { requestID: own }) } };
}
