import type { DomainNameservers } from '@reseller/client';
import * as v from 'valibot';

import { beginDomainChange, domainSubject, endDomainChange, nameserversOf, settleAndFindDomain } from '../../core/domain/domain.ts';
import type { UndoableDelivery } from '../../delivery/delivery.ts';
import { listOfNameservers, readNameservers } from '../../rules/nameserver.ts';
import { invalid } from '../../rules/refusal.ts';
import { deliveredCall } from '../operation.ts';
import type { Call, Success } from '../operation.ts';

const details = v.object({ name: v.string(), before: v.array(v.string()) });
type Details = v.InferOutput<typeof details>;

interface Plan {
  readonly name: string;
  readonly nameservers: DomainNameservers;
}

export const setNameservers: UndoableDelivery<Call<'setDomainNameservers'>, Details, Plan, Success<'setDomainNameservers'>> = {
  name: 'setDomainNameservers',
  recovery: 'undo',
  details,
  subject: domainSubject,

  async reserve({ db }, call) {
    const row = await settleAndFindDomain(db, call.runtime, call);
    const { nameservers, broken } = readNameservers(call.form, call.runtime.ports.registrar.standardNameservers);
    if (broken.length > 0) throw invalid(broken);
    const { name } = row;
    await beginDomainChange(db, name);
    const before = listOfNameservers(nameserversOf(row));
    return { accountId: call.accountId, details: { name, before }, plan: { name, nameservers } };
  },

  call: ({ registrar }, { name, nameservers }, token) => registrar.setNameservers(name, listOfNameservers(nameservers), token),

  async confirm({ db }, { name, nameservers }) {
    const { ns1, ns2, ...others } = nameservers;
    if (ns1 === null || ns2 === null) throw new Error('The form of the nameservers must require ns1 and ns2.');
    await endDomainChange(db, name, { ns1, ns2, ...others });
    return { message: 'The nameservers were changed. The change applies within seconds.', data: nameservers };
  },

  compensate: ({ registrar }, { name, before }, token) => registrar.setNameservers(name, before, token),
  rollBack: ({ db }, { name }) => endDomainChange(db, name),
};

/** POST /domain/{domain}/nameserver: replaces the nameservers of a domain. */
export const setDomainNameservers = deliveredCall(setNameservers);
