/** Renewals of domains by hand, at the registrar. */
import * as v from 'valibot';

import type { FinishableDelivery } from '../../delivery/delivery.ts';
import { enqueue } from '../../delivery/enqueue.ts';
import type { Ports } from '../../ports/ports.ts';
import type { Seconds } from '../../rules/billing.ts';
import { utcDay } from '../../rules/day.ts';
import type { Db } from '../../store/store.ts';
import { domainSubject, endDomainChange } from './domain.ts';

const details = v.object({ name: v.string(), expires: v.number() });

/** Tells the registrar of a renewal that is charged already. */
export const domainRenewal: FinishableDelivery<v.InferOutput<typeof details>> = {
  name: 'renewAtRegistrar',
  details,
  subject: domainSubject,
  finish: {
    call: ({ registrar }, { name, expires }, token) => registrar.renew(name, utcDay(expires * 1000), token),
    store: ({ db }, { name }) => endDomainChange(db, name),
  },
};

/** @param renewal `expires` is the expiry before the renewal. */
export function enqueueRenewal(
  db: Db,
  ports: Ports,
  { accountId, ...renewal }: { readonly accountId: string; readonly name: string; readonly expires: Seconds },
): Promise<void> {
  return enqueue(db, ports, domainRenewal, { accountId, details: renewal });
}
