/** Long computations that let other requests run in between. */

import type { Computation } from '../rules/computation.ts';

/** The longest turn of a computation. */
const TURN_MS = 4;

let lastTurn = Promise.resolve();

/**
 * Waits until other work has run. Computations that wait at the same time continue in different iterations of the event loop, so that their
 * turns do not add up.
 */
export function nextTurn(): Promise<void> {
  return (lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve))));
}

/** Handles each item in order, in turns. */
export async function inTurns<Item>(items: Iterable<Item> | AsyncIterable<Item>, handle: (item: Item) => void): Promise<void> {
  let end = performance.now() + TURN_MS;
  for await (const item of items) {
    handle(item);
    if (performance.now() < end) continue;
    await nextTurn();
    end = performance.now() + TURN_MS;
  }
}

/** Computes in turns. */
export async function computeInTurns<Result>(steps: Computation<Result>): Promise<Result> {
  let end = performance.now() + TURN_MS;
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (performance.now() < end) continue;
    await nextTurn();
    end = performance.now() + TURN_MS;
  }
}

/** The parts of a long response, each in a turn of its own. A stream alone gives no turns to others while its client keeps up. */
export async function* partsInTurns<Part>(parts: Iterable<Part> | AsyncIterable<Part>): AsyncGenerator<Part> {
  for await (const part of parts) {
    yield part;
    await nextTurn();
  }
}

/** How deep objects and short lists are written member by member. */
const WRITTEN_DEPTH = 5;
const SHORT_LIST = 32;

/** Each chunk is longer than this by a small value at most. */
const CHUNK_LENGTH = 65_536;

/** Collects a long text, because joining a few chunks takes less time than joining many small parts. @param toChunk How a chunk is kept. */
export function inChunks<Chunk>(toChunk: (text: string) => Chunk): { add(part: string): void; all(): readonly Chunk[] } {
  const chunks: Chunk[] = [];
  let parts: string[] = [];
  let length = 0;
  return {
    add(part) {
      parts.push(part);
      length += part.length;
      if (length < CHUNK_LENGTH) return;
      chunks.push(toChunk(parts.join('')));
      parts = [];
      length = 0;
    },
    all: () => [...chunks, toChunk(parts.join(''))],
  };
}

/** Like `JSON.stringify` for plain data whose long parts are lists and maps of small values, in turns. Returns the chunks of the text. */
export async function jsonInTurns(value: unknown): Promise<readonly string[]> {
  const chunks = inChunks((text) => text);
  await inTurns(jsonParts(value, WRITTEN_DEPTH), chunks.add);
  return chunks.all();
}

function* jsonParts(value: unknown, depth: number): Generator<string> {
  if (depth === 0 || typeof value !== 'object' || value === null) {
    yield JSON.stringify(value);
  } else if (Array.isArray(value)) {
    yield '[';
    for (const [index, item] of value.entries()) {
      if (index > 0) yield ',';
      // The items of a long list are small. Those of a short one may have long lists.
      if (value.length > SHORT_LIST) yield JSON.stringify(item ?? null);
      else yield* jsonParts(item ?? null, depth - 1);
    }
    yield ']';
  } else {
    let separator = '{';
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${separator}${JSON.stringify(name)}:`;
      separator = ',';
      yield* jsonParts(member, depth - 1);
    }
    yield separator === '{' ? '{}' : '}';
  }
}
