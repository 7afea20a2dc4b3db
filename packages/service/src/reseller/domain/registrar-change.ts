import type { FencingToken, Registrar } from '@reseller/adapters';
import * as v from 'valibot';

import { beginDomainChange, domainSubject, endDomainChange, settleAndFindDomain } from '../../core/domain/domain.ts';
import type { DomainRow } from '../../core/domain/domain.ts';
import type { UndoableDelivery } from '../../delivery/delivery.ts';
import type { Steps } from '../../delivery/steps.ts';
import type { Db } from '../../store/store.ts';
import type { Call, OperationId, Success } from '../operation.ts';

/** A change of one property of a domain, which the registrar carries out. */
interface RegistrarChange<Id extends OperationId, Value, Request extends Call<Id> = Call<Id>> {
  /** Of the delivery. */
  readonly name: string;
  readonly value: v.GenericSchema<unknown, Value>;
  /** @throws Refusal if the request asks for a value that the domain cannot have. */
  wanted(db: Db, call: Request, domain: DomainRow): Promise<Value> | Value;
  /**
   * Columns that change when the change begins, and stay if it is undone.
   *
   * @throws Refusal if the domain cannot have the value at the moment.
   */
  begun?(value: Value, call: Request, domain: DomainRow): Partial<DomainRow>;
  before(db: Db, domain: DomainRow): Promise<Value> | Value;
  set(registrar: Registrar, name: string, value: Value, token: FencingToken): Promise<void>;
  columnsOf(value: Value): Partial<DomainRow>;
  /** @param domain As it was before the change. */
  success(value: Value, call: Request, domain: DomainRow): Success<Id>;
}

type DomainCall<Id extends OperationId> = Call<Id> & { readonly path: { readonly domain: string } };

interface Details<Value> {
  readonly name: string;
  readonly before: Value;
}

/** How a change is carried out. */
interface CarriedOut<Id extends OperationId, Value, Request> {
  readonly delivery: UndoableDelivery<Details<Value>>;
  carryOut(steps: Steps<Success<Id>>, call: Request): Promise<Success<Id>>;
}

/** If the registrar fails, the domain keeps its value on both sides. */
export function registrarChange<Id extends OperationId, Value, Request extends DomainCall<Id> = DomainCall<Id>>({
  name: nameOfDelivery,
  value,
  wanted,
  begun,
  before: valueOf,
  set,
  columnsOf,
  success,
}: RegistrarChange<Id, Value, Request>): CarriedOut<Id, Value, Request> {
  const delivery: UndoableDelivery<Details<Value>> = {
    name: nameOfDelivery,
    details: v.object({ name: v.string(), before: value }),
    subject: domainSubject,
    leavesNoTrace: begun === undefined,
    undo: {
      call: ({ registrar }, { name, before }, token) => set(registrar, name, before, token),
      store: ({ db }, { name }) => endDomainChange(db, name),
    },
  };
  return {
    delivery,
    async carryOut(steps, call) {
      const { domain, after } = await steps.reserve(delivery, async ({ db }) => {
        const row = await settleAndFindDomain(db, call.runtime, call);
        const next = await wanted(db, call, row);
        await beginDomainChange(db, row, begun?.(next, call, row));
        const details = { name: row.name, before: await valueOf(db, row) };
        return { accountId: call.accountId, details, domain: row, after: next };
      });
      await steps.call(({ registrar }, token) => set(registrar, domain.name, after, token));
      return steps.confirm(async ({ db }) => {
        await endDomainChange(db, domain.name, columnsOf(after));
        return success(after, call, domain);
      });
    },
  };
}
