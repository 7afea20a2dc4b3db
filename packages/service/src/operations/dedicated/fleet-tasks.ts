/**
 * What the fleet is to be told: which servers to set up and which to retire. It is stored with the
 * order or the end that it follows from and crossed out when the fleet has done it, so a crash in
 * between leads to one more call, never to none. Of several nodes one takes a task on; where it
 * dies, another one does.
 */
import type { Ports } from '../../ports/ports.ts';
import type { Turn } from '../../ports/turn.ts';
import type { Store } from '../../store/store.ts';
import type { Node } from '../node.ts';
import { withEach } from '../pace.ts';
import { nextTurn } from '../turns.ts';
import type { ServerRow } from './server.ts';

/** What the fleet is told of a server, as the server was when the turn was taken. */
interface Task {
  readonly server: ServerRow;
  readonly turn: Turn;
}

/** Tasks that a node takes on at once. */
const AT_ONCE = 20;

/** Where tasks are, and who takes them on. */
export interface FleetTelling {
  readonly store: Store;
  readonly ports: Ports;
  readonly node: Node;
  /** Aborted when the service stops: no further task is begun. */
  readonly closing: AbortSignal;
}

/**
 * Tells the fleet all that it has not been told, except what another node is telling it.
 *
 * @returns How many tasks it did.
 * @throws AggregateError when it fails in some of them; those are left for the next time.
 */
export async function tellFleet(telling: FleetTelling): Promise<number> {
  const failures: unknown[] = [];
  const failed: string[] = [];
  for (let told = 0; ;) {
    const tasks = telling.closing.aborted ? [] : await takeTasks(telling, failed);
    if (tasks.length === 0) {
      if (failures.length > 0)
        throw new AggregateError(failures, `The fleet failed in ${failures.length} of ${told + failures.length} tasks.`);
      return told;
    }
    const tell = async (task: Task): Promise<void> => {
      const { server } = task;
      try {
        await carryOut(telling, task);
        told++;
      } catch (error) {
        failures.push(error);
        failed.push(server.id);
        // What is not let go of is this node's own: it takes it on again, or another one does when this one is gone.
        await letGo(telling, server).catch((unsaid: unknown) => void failures.push(unsaid));
      }
    };
    await withEach(tasks, tell, telling.closing);
  }
}

/** Takes on tasks that nobody else who lives has taken on. */
async function takeTasks({ store, node }: FleetTelling, except: readonly string[]): Promise<Task[]> {
  const anything = await store.read((db) =>
    db.selectFrom('dedicated_servers').select('id').where('fleet_task', 'is not', null).limit(1).executeTakeFirst(),
  );
  if (!anything) return [];
  return store.commit(async ({ db }) => {
    const open = db
      .selectFrom('dedicated_servers')
      .select('dedicated_servers.id')
      .where('fleet_task', 'is not', null)
      .where((eb) => eb.or([eb('fleet_owner', 'is', null), eb('fleet_owner', '=', node.id), node.isDead(eb, eb.ref('fleet_owner'))]))
      .orderBy('dedicated_servers.id')
      .limit(AT_ONCE);
    const wanted = except.length === 0 ? open : open.where('dedicated_servers.id', 'not in', [...except]);
    const ids = (await store.sharing.claim(wanted, 'dedicated_servers', 'left out').execute()).map(({ id }) => id);
    if (ids.length === 0) return [];
    const taken = await db.updateTable('dedicated_servers').set({ fleet_owner: node.id }).where('id', 'in', ids).returningAll().execute();
    const tasks: Task[] = [];
    for (const server of taken.toSorted((one, other) => (one.id < other.id ? -1 : 1)))
      tasks.push({ server, turn: await nextTurn(db, `server/${server.id}`) });
    return tasks;
  });
}

async function carryOut(telling: FleetTelling, { server, turn }: Task): Promise<void> {
  const { store, ports, node } = telling;
  const { id, account_id, fleet_task, datacenter_name } = server;
  const { fleet } = ports;
  if (fleet_task === 'set_up' && account_id !== null) {
    const rows = await store.read((db) =>
      db.selectFrom('dedicated_addresses').select('address').where('server_id', '=', id).orderBy('family').orderBy('position').execute(),
    );
    await fleet.setUp(
      {
        identifier: id,
        accountId: account_id,
        datacenter: datacenter_name,
        addresses: rows.map(({ address }) => address),
      },
      turn,
    );
  } else {
    await fleet.retire(id, turn);
  }
  const crossedOut = await store.commit(({ db }) =>
    db
      .updateTable('dedicated_servers')
      .set({ fleet_task: null, fleet_owner: null })
      .where('id', '=', id)
      .where('fleet_task', '=', fleet_task)
      .where('fleet_owner', '=', node.id)
      .executeTakeFirst(),
  );
  // The task has become another one meanwhile.
  if (crossedOut.numUpdatedRows === 0n) await letGo(telling, server);
}

async function letGo({ store, node }: FleetTelling, { id }: ServerRow): Promise<void> {
  await store.commit(({ db }) =>
    db.updateTable('dedicated_servers').set({ fleet_owner: null }).where('id', '=', id).where('fleet_owner', '=', node.id).execute(),
  );
}
