/** The contents that a refused request must not change. */
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';

import type { TestService } from './harness.ts';

/**
 * The contents of the store and of the ports. The request log and the fencing tokens are left out, because refused requests are logged and
 * refused calls use up their token.
 */
export function contentsOf({ directory, hypervisor, registrar, fleet }: TestService): Readonly<Record<string, unknown>> {
  return {
    ...tablesOf(directory),
    hypervisor: [...hypervisor.vms],
    registrar: [...registrar.domains],
    fleet: [...fleet.servers, ...fleet.retired],
  };
}

/** Rows by table. */
export function tablesOf(directory: string): Readonly<Record<string, readonly unknown[]>> {
  const connection = new DatabaseSync(join(directory, 'store.sqlite'), { readOnly: true });
  try {
    const tables = connection
      .prepare(`select name from sqlite_master where type = 'table' and name not in ('request_log', 'fencing_tokens') order by name`)
      .all();
    return Object.fromEntries(tables.map(({ name }) => [String(name), rowsOf(connection, String(name))]));
  } finally {
    connection.close();
  }
}

/** All texts in the store. */
export function textsIn(directory: string): ReadonlySet<unknown> {
  return new Set(Object.values(tablesOf(directory)).flatMap((rows) => rows.flatMap((row) => Object.values(Object(row)))));
}

function rowsOf(connection: DatabaseSync, table: string): unknown[] {
  // The many free addresses change only when they get a VM.
  return connection.prepare(`select * from "${table}"${table === 'ip_addresses' ? ' where vm_id is not null' : ''}`).all();
}
