/** What a refused request must leave as it was. */
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';

import type { TestService } from './harness.ts';

/**
 * All that the service keeps and all that it has had done: every table but the request log and the turns of ports, and what its ports
 * have. A call that a port refused has had its turn, too: like a number of a sequence, it never comes again.
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
      .prepare(`select name from sqlite_master where type = 'table' and name not in ('request_log', 'turns') order by name`)
      .all();
    return Object.fromEntries(tables.map(({ name }) => [String(name), rowsOf(connection, String(name))]));
  } finally {
    connection.close();
  }
}

/** The texts that stand in the store. */
export function textsIn(directory: string): ReadonlySet<unknown> {
  return new Set(Object.values(tablesOf(directory)).flatMap((rows) => rows.flatMap((row) => Object.values(Object(row)))));
}

function rowsOf(connection: DatabaseSync, table: string): unknown[] {
  // Addresses that nobody has are many, and they change only by becoming somebody's.
  return connection.prepare(`select * from "${table}"${table === 'ip_addresses' ? ' where vm_id is not null' : ''}`).all();
}
