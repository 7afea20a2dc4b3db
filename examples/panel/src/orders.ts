/** The orders of the panel's customers, in a database file that several processes may use at the same time. */
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

export type State = 'ordered' | 'active' | 'suspended' | 'terminated';

/** A server or a domain that a customer has ordered. */
export interface Order {
  /** The number of a server's service, such as `4711`, or the name of a domain. */
  readonly id: string;
  /** The package of a server, or the service of the customer who ordered a domain. */
  readonly product: string;
  readonly state: State;
  /** Names the purchase. */
  readonly key: string;
  /** When it was ordered, in milliseconds. */
  readonly ordered: number;
  /** The identifier of the VM, or the name of the domain. Null until it is known to be bought. */
  readonly resource: string | null;
}

/** The store of the panel. A change is durable before its method returns. */
export interface Orders {
  /** Stores a new order. One that is not terminated stays as it is. */
  order(id: string, product: string): Order;
  /** @throws Error if there is no such order. */
  find(id: string): Order;
  /** Stores what was bought, unless the order was terminated meanwhile. */
  activate(order: Order, resource: string): void;
  /** @returns Whether it was done. Another click may have changed the order. */
  terminate(order: Order): boolean;
  /** Stores that an order has made a contact for its domain. */
  addContact(order: Order, handle: string): void;
  hasContact(order: Order, handle: string): boolean;
  setState(id: string, state: 'active' | 'suspended'): void;
  setProduct(id: string, product: string): void;
  close(): void;
}

const BUSY_TIMEOUT_MS = 10_000;

export function openOrders(file: string): Orders {
  const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  db.exec(`create table if not exists orders (
    id text primary key,
    product text not null,
    state text not null,
    key text not null,
    ordered integer not null,
    resource text
  ) strict`);
  db.exec('create table if not exists contacts (key text not null, handle text not null, primary key (key, handle)) strict');
  const select = db.prepare('select * from orders where id = ?');
  // A terminated order can be made again. The new one has a new key.
  const order = db.prepare(`insert into orders (id, product, state, key, ordered) values (?, ?, 'ordered', ?, ?)
    on conflict (id) do update
    set product = excluded.product, state = 'ordered', key = excluded.key, ordered = excluded.ordered, resource = null
    where state = 'terminated'`);
  const activate = db.prepare("update orders set state = 'active', resource = ? where id = ? and key = ? and state = 'ordered'");
  const terminate = db.prepare("update orders set state = 'terminated' where id = ? and key = ? and resource is ?");
  const addContact = db.prepare('insert or ignore into contacts (key, handle) values (?, ?)');
  const selectContact = db.prepare('select * from contacts where key = ? and handle = ?');
  const setState = db.prepare("update orders set state = ? where id = ? and state != 'terminated'");
  const setProduct = db.prepare('update orders set product = ? where id = ?');

  function find(id: string): Order {
    const row = select.get(id);
    if (!row) throw new Error(`There is no order ${id}.`);
    return toOrder(row);
  }

  return {
    order(id, product) {
      order.run(id, product, randomUUID(), Date.now());
      return find(id);
    },
    find,
    activate: ({ id, key }, resource) => void activate.run(resource, id, key),
    terminate: ({ id, key, resource }) => terminate.run(id, key, resource).changes === 1,
    addContact: ({ key }, handle) => void addContact.run(key, handle),
    hasContact: ({ key }, handle) => selectContact.get(key, handle) !== undefined,
    setState: (id, state) => void setState.run(state, id),
    setProduct: (id, product) => void setProduct.run(product, id),
    close: () => db.close(),
  };
}

type Row = NonNullable<ReturnType<ReturnType<DatabaseSync['prepare']>['get']>>;

const STATES: readonly State[] = ['ordered', 'active', 'suspended', 'terminated'];

function toOrder({ id, product, state, key, ordered, resource }: Row): Order {
  const known = STATES.find((one) => one === state);
  if (!known) throw new Error(`The order ${id} has the state ${state}, which this version does not know.`);
  return {
    id: String(id),
    product: String(product),
    state: known,
    key: String(key),
    ordered: Number(ordered),
    resource: typeof resource === 'string' ? resource : null,
  };
}
