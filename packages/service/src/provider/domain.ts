/** What the provider does with the domains of its accounts. */
import type { Selectable } from 'kysely';

import { endChange } from '../operations/domain/domain.ts';
import type { DeliveredOperation } from '../operations/operation.ts';
import { settle } from '../operations/settle.ts';
import { Refusal } from '../refusal.ts';
import type { DomainsTable } from '../store/domain-schema.ts';
import type { Db } from '../store/store.ts';
import { carryOut, InfrastructureError } from './change.ts';
import type { Change, ChangeParts } from './change.ts';

/** What the provider does with domains. */
export interface DomainActs {
  /**
   * Cancels a domain: it stays as it is until it expires, and is free for anyone then (specification:
   * "Cancellation of a domain: not shown"). It is cancelled in the store at once, and costs nothing
   * more. Where the registrar fails it is told again until it knows, and nothing else of the domain
   * can be changed meanwhile. May be repeated.
   *
   * @param name ASCII form.
   * @throws Refusal 404 when no account has the domain, 409 when it is being changed.
   * @throws InfrastructureError when the registrar does not know yet.
   */
  terminate(name: string): Promise<void>;
}

/** How a cancellation that is left over is finished, by the name that its reservation has. */
export const domainChangesLeft = {
  terminateDomain: {
    kind: 'delivered',
    withdraw: ({ registrar }, { name }, { turn }) => registrar.setRenewal(String(name), false, turn),
    release: ({ db }, { name }) => endChange(db, String(name)),
  },
} satisfies Readonly<Record<string, Pick<DeliveredOperation<never>, 'kind' | 'withdraw' | 'release'>>>;

export function domainActs(parts: ChangeParts): DomainActs {
  return { terminate: (name) => carryOut(parts, 'terminateDomain', terminating(parts, name)) };
}

function terminating(parts: ChangeParts, name: string): Change<void> {
  return {
    async reserve(db) {
      const { account_id: accountId } = await cancelled(db, parts, name);
      return { accountId, subject: `domain/${name}`, details: { name } };
    },
    deliver: (turn) => parts.ports.registrar.setRenewal(name, false, turn),
    confirm: (db) => endChange(db, name),
    finished: () => {},
    failure: () => notTold(name),
  };
}

/** The domain, which is cancelled from now on, and which only the registrar has to be told of. */
async function cancelled(db: Db, { ports, secret }: ChangeParts, name: string): Promise<Selectable<DomainsTable>> {
  const now = ports.clock.now();
  const registered = await db.selectFrom('domains').select('account_id').where('name', '=', name).executeTakeFirst();
  if (registered) await settle(db, { ports, secret, accountId: registered.account_id, now });
  const row = await db
    .updateTable('domains')
    .set({ terminated: 1, state: 'changing' })
    .where('name', '=', name)
    .where('state', '=', 'registered')
    .where('expires', '>', Math.floor(now / 1000))
    .returningAll()
    .executeTakeFirst();
  if (row) return row;
  const other = await db.selectFrom('domains').select('state').where('name', '=', name).where('state', '!=', 'reserved').executeTakeFirst();
  if (!other) throw new Refusal(404, 'not_found', `No account has the domain ${name}. Check the name.`);
  if (await isBeingTold(db, name)) throw new InfrastructureError(notTold(name));
  throw new Refusal(409, 'wrong_state', `The domain ${name} is being changed at the moment. Try again in a minute.`);
}

async function isBeingTold(db: Db, name: string): Promise<boolean> {
  const left = await db
    .selectFrom('reservations')
    .select('id')
    .where('operation', '=', 'terminateDomain')
    .where('subject', '=', `domain/${name}`)
    .executeTakeFirst();
  return left !== undefined;
}

function notTold(name: string): string {
  return `The domain ${name} is cancelled, but the registrar does not know it yet: it is told again until it does. Send the request again to see whether it does.`;
}
