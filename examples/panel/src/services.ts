/** The services of the panel's customers, in a database file that several processes may use at the same time. */
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

export type State = 'ordered' | 'active' | 'suspended' | 'terminated';

/** A service that a customer has ordered. */
export interface Service {
  readonly id: number;
  readonly package: string;
  readonly state: State;
  /** Names the purchase of its VM. */
  readonly orderKey: string;
  /** When it was ordered, in milliseconds. */
  readonly ordered: number;
  /** Null until its VM is known. */
  readonly vmid: number | null;
}

/** The store of the panel. A change is durable before its method returns. */
export interface Services {
  /** Stores a new order. A service that is not terminated stays as it is. */
  order(id: number, packageName: string): Service;
  /** @throws Error if there is no such service. */
  find(id: number): Service;
  /** Stores the VM of an order, unless the order was terminated meanwhile. */
  activate(order: Service, vmid: number): void;
  /** @returns Whether it was done. Another click may have changed the order or the VM of the service. */
  terminate(service: Service): boolean;
  setState(id: number, state: 'active' | 'suspended'): void;
  setPackage(id: number, packageName: string): void;
  close(): void;
}

const BUSY_TIMEOUT_MS = 10_000;

export function openServices(file: string): Services {
  const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  db.exec(`create table if not exists services (
    id integer primary key,
    package text not null,
    state text not null,
    order_key text not null,
    ordered integer not null,
    vmid integer
  ) strict`);
  const select = db.prepare('select * from services where id = ?');
  // A terminated service can be ordered again. Its new order has a new key.
  const order = db.prepare(`insert into services (id, package, state, order_key, ordered) values (?, ?, 'ordered', ?, ?)
    on conflict (id) do update
    set package = excluded.package, state = 'ordered', order_key = excluded.order_key, ordered = excluded.ordered, vmid = null
    where state = 'terminated'`);
  const activate = db.prepare("update services set state = 'active', vmid = ? where id = ? and order_key = ? and state = 'ordered'");
  const terminate = db.prepare("update services set state = 'terminated' where id = ? and order_key = ? and vmid is ?");
  const setState = db.prepare("update services set state = ? where id = ? and state != 'terminated'");
  const setPackage = db.prepare('update services set package = ? where id = ?');

  function find(id: number): Service {
    const row = select.get(id);
    if (!row) throw new Error(`There is no service ${id}.`);
    return toService(row);
  }

  return {
    order(id, packageName) {
      order.run(id, packageName, randomUUID(), Date.now());
      return find(id);
    },
    find,
    activate: ({ id, orderKey }, vmid) => void activate.run(vmid, id, orderKey),
    terminate: ({ id, orderKey, vmid }) => terminate.run(id, orderKey, vmid).changes === 1,
    setState: (id, state) => void setState.run(state, id),
    setPackage: (id, packageName) => void setPackage.run(packageName, id),
    close: () => db.close(),
  };
}

type Row = NonNullable<ReturnType<ReturnType<DatabaseSync['prepare']>['get']>>;

const STATES: readonly State[] = ['ordered', 'active', 'suspended', 'terminated'];

function toService({ id, package: packageName, state, order_key, ordered, vmid }: Row): Service {
  const known = STATES.find((one) => one === state);
  if (!known) throw new Error(`The service ${id} has the state ${state}, which this version does not know.`);
  return {
    id: Number(id),
    package: String(packageName),
    state: known,
    orderKey: String(order_key),
    ordered: Number(ordered),
    vmid: vmid === null || vmid === undefined ? null : Number(vmid),
  };
}
