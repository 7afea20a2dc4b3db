/** Statements that are sent to the database together. */
import { types } from 'pg';
import type { Connection, FieldDef, Submittable } from 'pg';
import { serialize } from 'pg-protocol';

import type { Statement } from '../prepared.ts';
import { isOutdatedPlan, OutdatedColumnsError } from './errors.ts';

/** The result of one statement. */
export interface Result {
  readonly rows: readonly unknown[];
  /** Rows that were changed or returned. */
  readonly count: number;
  /** Such as `UPDATE 1`. */
  readonly tag: string;
}

/** A statement that the connection prepares. */
interface Prepared {
  readonly name: string;
  /** False until it has run. Until then, each message prepares it, because an error may have skipped the preparation. */
  isPrepared: boolean;
  /** Known once it has run. An error does not change them, because messages behind the failing one may need them. */
  columns: readonly Column[];
}

interface Column {
  readonly name: string;
  parse(text: string): unknown;
}

/** The prepared statements of a connection. */
interface Memory {
  /** The prepared statements, by their texts. */
  readonly prepared: Map<string, Prepared>;
  /** Names of statements that are no longer used. */
  unused: string[];
}

const memories = new WeakMap<Connection, Memory>();
/** Beyond this, statements are prepared again. Some texts vary, such as those with lists of different lengths. */
const MAX_PREPARED = 500;

/**
 * Sends several statements in one message, and receives all results in another, which takes one round trip. Outside a transaction block,
 * the statements are a transaction of their own. The first error skips the rest, and rolls that transaction back.
 *
 * The driver's own pipeline ends each statement with a Sync, so that each would be a transaction and cost the server a system call. This
 * uses the driver's interface for queries of other packages, as pg-cursor does. Statements are prepared by name once per connection, so
 * that the server parses and plans them once.
 */
export class Pipeline implements Submittable {
  readonly results: Promise<Result[]>;
  readonly #statements: readonly { readonly text: string; readonly values: (string | Buffer | null)[] }[];
  readonly #done: Result[] = [];
  readonly #outcome = Promise.withResolvers<Result[]>();
  readonly #onEnd: () => void;
  #sent: readonly { readonly statement: Prepared; readonly isNew: boolean }[] | undefined;
  #rows: unknown[] = [];
  #mistake: unknown;

  /**
   * @param onEnd Called when the driver is done with it, before the next message of the database.
   * @throws TypeError if a value cannot be stored.
   */
  constructor(statements: readonly Statement[], onEnd: () => void = () => {}) {
    this.#statements = statements.map(({ text, values }) => ({ text, values: values.map(toText) }));
    this.#onEnd = onEnd;
    this.results = this.#outcome.promise;
  }

  submit(connection: Connection): void {
    if (!this.#sent) this.write(connection);
  }

  /** Sends the message before the driver asks for it. Messages of the same iteration of the event loop are sent together. */
  write(connection: Connection): void {
    const memory = memoryOf(connection);
    if (memory.prepared.size >= MAX_PREPARED) forgetAll(memory);
    const message = memory.unused.splice(0).map((name) => serialize.close({ type: 'S', name }));
    this.#sent = this.#statements.map(({ text, values }) => {
      const statement = memory.prepared.get(text) ?? remember(memory, text);
      const isNew = !statement.isPrepared;
      if (isNew) prepare(message, statement, text);
      message.push(serialize.bind({ statement: statement.name, values }), serialize.execute());
      return { statement, isNew };
    });
    message.push(serialize.sync());
    const { stream } = connection;
    // One write to the socket for all messages, because each takes longer than serialising a statement.
    if (stream.writableCorked === 0) {
      stream.cork();
      setImmediate(() => stream.uncork());
    }
    stream.write(Buffer.concat(message));
  }

  /** Arrives before the rows of a statement that is new to the connection. */
  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    const sent = this.#sent?.[this.#done.length];
    if (sent) sent.statement.columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    try {
      const columns = this.#sent?.[this.#done.length]?.statement.columns ?? [];
      if (columns.length !== fields.length)
        throw new OutdatedColumnsError(`A row has ${fields.length} columns instead of ${columns.length}.`);
      const row = Object.create(Object.prototype);
      for (const [index, { name, parse }] of columns.entries()) {
        const text = fields[index] ?? null;
        row[name] = text === null ? null : parse(text);
      }
      this.#rows.push(row);
    } catch (error) {
      this.#mistake ??= error;
    }
  }

  handleCommandComplete({ text: tag }: { readonly text: string }): void {
    const sent = this.#sent?.[this.#done.length];
    if (sent) sent.statement.isPrepared = true;
    // Such as "INSERT 0 1". "BEGIN" has no number.
    const count = Number(tag.slice(tag.lastIndexOf(' ') + 1)) || 0;
    this.#done.push({ rows: this.#rows, count, tag });
    this.#rows = [];
  }

  handleError(error: unknown, connection: Connection): void {
    const memory = memoryOf(connection);
    if (isOutdatedPlan(error)) forgetAll(memory);
    // The preparation of a statement may have failed.
    for (const { statement, isNew } of this.#sent?.slice(this.#done.length) ?? []) if (isNew) statement.isPrepared = false;
    this.#outcome.reject(error);
    this.#onEnd();
  }

  handleReadyForQuery(connection: Connection): void {
    if (isOutdatedPlan(this.#mistake)) forgetAll(memoryOf(connection));
    if (this.#mistake === undefined) this.#outcome.resolve(this.#done);
    else this.#outcome.reject(this.#mistake);
    this.#onEnd();
  }
}

function memoryOf(connection: Connection): Memory {
  let memory = memories.get(connection);
  if (!memory) {
    memory = { prepared: new Map(), unused: [] };
    memories.set(connection, memory);
  }
  return memory;
}

function forgetAll(memory: Memory): void {
  memory.unused.push(...Array.from(memory.prepared.values(), ({ name }) => name));
  memory.prepared.clear();
}

let names = 0;

function remember({ prepared }: Memory, text: string): Prepared {
  const statement: Prepared = { name: `s${names++}`, isPrepared: false, columns: [] };
  prepared.set(text, statement);
  return statement;
}

function prepare(message: Buffer[], { name }: Prepared, text: string): void {
  // An earlier message may have prepared it.
  message.push(serialize.close({ type: 'S', name }), serialize.parse({ name, text }), serialize.describe({ type: 'S', name }));
}

/** A parameter as the database reads it. The types are the same as those that SQLite stores. */
function toText(value: unknown): string | Buffer | null {
  if (value === null || typeof value === 'string') return value;
  // Only Kysely's queries about the tables have them.
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))) return String(value);
  if (Array.isArray(value)) return arrayOf(value);
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  throw new TypeError(
    `A query parameter is ${typeof value === 'number' ? `the number ${value}` : `of the type ${typeof value}`}; only text, bytes, null and integers up to 2^53 are stored.`,
  );
}

function arrayOf(values: readonly unknown[]): string {
  const elements = values.map((value) => {
    const text = toText(value);
    return text === null ? 'NULL' : `"${String(text).replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  });
  return `{${elements.join(',')}}`;
}

/** The integer types. A sum of 64-bit integers has the type numeric. */
const INTEGERS: ReadonlySet<number> = new Set([types.builtins.INT8, types.builtins.NUMERIC]);

/** Parses a value of a type. The driver returns 64-bit integers as text, but all integers of the service are below 2^53. */
export function parserOf(type: number): (text: string) => unknown {
  return INTEGERS.has(type) ? integer : types.getTypeParser(type);
}

function integer(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`The database returned the integer ${text}, which is beyond 2^53.`);
  return value;
}
