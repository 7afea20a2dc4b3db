import type { FencingToken, Registrar } from '@reseller/adapters';
import * as v from 'valibot';

import { beginDomainChange, domainSubject, endDomainChange, settleAndFindDomain } from '../../core/domain/domain.ts';
import type { DomainRow } from '../../core/domain/domain.ts';
import type { UndoableDelivery } from '../../delivery/delivery.ts';
import type { Db } from '../../store/store.ts';
import type { Call, OperationId, Success } from '../operation.ts';

/** A change of one property of a domain, which the registrar carries out. */
interface RegistrarChange<Id extends OperationId, Value> {
  /** Of the delivery. */
  readonly name: string;
  readonly value: v.GenericSchema<unknown, Value>;
  /** @throws Refusal if the request asks for a value that the domain cannot have. */
  wanted(db: Db, call: Call<Id>, domain: DomainRow): Promise<Value> | Value;
  before(db: Db, domain: DomainRow): Promise<Value> | Value;
  set(registrar: Registrar, name: string, value: Value, token: FencingToken): Promise<void>;
  columnsOf(value: Value): Partial<DomainRow>;
  success(value: Value, name: string): Success<Id>;
}

interface Details<Value> {
  readonly name: string;
  readonly before: Value;
}

interface Plan<Value> {
  readonly name: string;
  readonly after: Value;
}

type DomainCall<Id extends OperationId> = Call<Id> & { readonly path: { readonly domain: string } };

/** The delivery of a change. If the registrar fails, the domain keeps its value on both sides. */
export function registrarChange<Id extends OperationId, Value>({
  name: delivery,
  value,
  wanted,
  before: valueOf,
  set,
  columnsOf,
  success,
}: RegistrarChange<Id, Value>): UndoableDelivery<DomainCall<Id>, Details<Value>, Plan<Value>, Success<Id>> {
  return {
    name: delivery,
    recovery: 'undo',
    details: v.object({ name: v.string(), before: value }),
    subject: domainSubject,

    async reserve({ db }, call) {
      const domain = await settleAndFindDomain(db, call.runtime, call);
      const after = await wanted(db, call, domain);
      const { name } = domain;
      await beginDomainChange(db, name);
      return { accountId: call.accountId, details: { name, before: await valueOf(db, domain) }, plan: { name, after } };
    },

    call: ({ registrar }, { name, after }, token) => set(registrar, name, after, token),

    async confirm({ db }, { name, after }) {
      await endDomainChange(db, name, columnsOf(after));
      return success(after, name);
    },

    compensate: ({ registrar }, { name, before }, token) => set(registrar, name, before, token),
    rollBack: ({ db }, { name }) => endDomainChange(db, name),
  };
}
