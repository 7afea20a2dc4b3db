import type { FencingToken, Registrar } from '@reseller/adapters';
import * as v from 'valibot';

import { beginDomainChange, domainSubject, endDomainChange, settleAndFindDomain } from '../../core/domain/domain.ts';
import type { DomainRow } from '../../core/domain/domain.ts';
import type { UndoableDelivery } from '../../delivery/delivery.ts';
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

interface Plan<Value, Request> {
  readonly call: Request;
  readonly domain: DomainRow;
  readonly after: Value;
}

/** The delivery of a change. If the registrar fails, the domain keeps its value on both sides. */
export function registrarChange<Id extends OperationId, Value, Request extends DomainCall<Id> = DomainCall<Id>>({
  name: delivery,
  value,
  wanted,
  begun,
  before: valueOf,
  set,
  columnsOf,
  success,
}: RegistrarChange<Id, Value, Request>): UndoableDelivery<Request, Details<Value>, Plan<Value, Request>, Success<Id>> {
  return {
    name: delivery,
    recovery: 'undo',
    details: v.object({ name: v.string(), before: value }),
    subject: domainSubject,

    async reserve({ db }, call) {
      const domain = await settleAndFindDomain(db, call.runtime, call);
      const after = await wanted(db, call, domain);
      const { name } = domain;
      await beginDomainChange(db, domain, begun?.(after, call, domain));
      return { accountId: call.accountId, details: { name, before: await valueOf(db, domain) }, plan: { call, domain, after } };
    },

    call: ({ registrar }, { domain: { name }, after }, token) => set(registrar, name, after, token),

    async confirm({ db }, { call, domain, after }) {
      await endDomainChange(db, domain.name, columnsOf(after));
      return success(after, call, domain);
    },

    compensate: ({ registrar }, { name, before }, token) => set(registrar, name, before, token),
    rollBack: ({ db }, { name }) => endDomainChange(db, name),
  };
}
