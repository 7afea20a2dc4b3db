import { jsonOf } from './exchange.ts';
import type { Exchange, FakeAnswer } from './check.ts';
import { isObject } from './json.ts';
import { responseFor } from './operations.ts';
import { walkDescribed } from './place.ts';
import type { Place } from './place.ts';
import { pointerTokens } from './pointer.ts';
import { replaced } from './replace.ts';

/** Changes the first part of a good answer of which `isIt` is true; undefined where there is none. For the defects of checks. */
export function alterFirst(exchange: Exchange, isIt: (place: Place) => boolean, change: (place: Place) => unknown): FakeAnswer | undefined {
  const { answer } = exchange;
  const found = placesOf(exchange).find(isIt);
  if (found === undefined) return undefined;
  return { ...answer, body: replaced(answer.body, found.pointer, change(found)) };
}

/** Takes the first part of a good answer away of which `isIt` is true. */
export function dropFirst(exchange: Exchange, isIt: (place: Place) => boolean): FakeAnswer | undefined {
  return alterFirst(exchange, isIt, () => undefined);
}

/** The parts of a successful answer with their schemas; none for other answers. */
export function placesOf({ document, operation, outcome, answer }: Exchange): readonly Place[] {
  const response = operation === undefined ? undefined : responseFor(operation, answer.status);
  const pointer = response === undefined ? undefined : jsonOf(response)?.pointer;
  if (outcome !== 'success' || response === undefined || pointer === undefined) return [];
  const places: Place[] = [];
  walkDescribed(document, { pointer, provenance: response.provenance }, answer.body, (place) => {
    places.push(place);
    return true;
  });
  return places;
}

/** Whether a part belongs to the requested data, not to the envelope, and the document shows it. */
export function isPayload({ pointer, nodes }: Place): boolean {
  return pointerTokens(pointer).length > 1 && nodes.length > 0 && nodes.every(({ provenance }) => provenance === 'shown');
}

/** The body of an answer with further members at its top. */
export function withMembers(answer: FakeAnswer, members: Readonly<Record<string, unknown>>): FakeAnswer {
  return { ...answer, body: { ...Object(answer.body), ...members } };
}

/** A refusal of the operation with another status; undefined where the document has no example of one. */
export function tamperEnvelope({ operation, outcome, answer }: Exchange, status: number): FakeAnswer | undefined {
  const refusal = Object.values(operation?.responses['401']?.content['application/json']?.examples ?? {})[0]?.value;
  if (outcome !== 'success' || !isObject(refusal)) return undefined;
  return refusalLike(answer, status, refusal);
}

/** An answer with the body of an example, which keeps the identifier of its own request: else two of them would name the same one. */
export function refusalLike(answer: FakeAnswer, status: number, example: unknown): FakeAnswer {
  const own = isObject(answer.body) ? answer.body['requestID'] : undefined;
  return { ...answer, status, body: { ...Object(example), ...(own === undefined ? {} : { requestID: own }) } };
}
