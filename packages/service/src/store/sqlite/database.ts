/** Adapts `node:sqlite` to Kysely's SQLite dialect. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

import { SqliteDialect, SqliteQueryCompiler, ValueNode } from 'kysely';
import type { LimitNode, SqliteDatabase, SqliteStatement } from 'kysely';

import type { Runner } from '../prepared.ts';
import type { Tuning } from '../tuning.ts';
import { claimNothing, lockNothing, textTable } from './sharing.ts';

/** Kysely's dialect over a connection. */
export class ConnectionDialect extends SqliteDialect {
  constructor(connection: DatabaseSync, { maxStatements }: Pick<Tuning, 'maxStatements'>) {
    super({ database: kyselyDatabase(connection, maxStatements) });
  }

  override createQueryCompiler(): SqliteQueryCompiler {
    return new QueryCompiler();
  }
}

/**
 * Writes limits without a bare parameter. SQLite plans for the value of such a parameter, so it would prepare the statement again for each
 * run, which takes longer than the run.
 */
export class QueryCompiler extends SqliteQueryCompiler {
  protected override visitLimit({ limit }: LimitNode): void {
    this.append('limit ');
    if (ValueNode.is(limit)) {
      this.appendImmediateValue(limit.value);
    } else {
      this.append('0 + ');
      this.visitNode(limit);
    }
  }
}

/** Wraps a connection, and prepares each statement once. */
function kyselyDatabase(connection: DatabaseSync, maxStatements: number): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => connection.close(),
    prepare(sql) {
      const kept = statements.get(sql);
      if (kept) return kept;
      if (statements.size >= maxStatements) statements.clear();
      const statement = wrap(connection.prepare(sql));
      statements.set(sql, statement);
      return statement;
    },
  };
}

/** Runs prepared queries on the connection, without Kysely. */
export function directRunner(connection: DatabaseSync): Runner {
  const statements = new Map<string, StatementSync>();
  return {
    scope: connection,
    claim: claimNothing,
    textTable,
    lock: lockNothing,
    rows({ text, values }) {
      const statement = statements.get(text) ?? connection.prepare(text);
      statements.set(text, statement);
      return Reflect.apply(statement.all, statement, values.map(inputValue));
    },
  };
}

function wrap(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...parameters.map(inputValue)),
    run: (parameters) => statement.run(...parameters.map(inputValue)),
    iterate: (parameters) => statement.iterate(...parameters.map(inputValue)),
  };
}

/** The value to bind for a query parameter. A number is bound as a bigint, because `node:sqlite` binds every number as REAL. */
export function inputValue(value: unknown): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'bigint' || value instanceof Uint8Array) return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  throw new TypeError(
    `A query parameter is ${typeof value === 'number' ? `the number ${value}` : `of the type ${typeof value}`}; only text, bytes, null and integers up to 2^53 are stored.`,
  );
}
