import { timingOf } from '../../rules/domain-registration.ts';
import { numberOf } from '../../rules/money.ts';

/** The facts that a trigger has noted, as they are in the store. */
export type Facts = Readonly<Record<string, string | number | null>>;

type Data = Readonly<Record<string, string | number | boolean | null>>;

/** The `data` of events by the first part of their type. Other events show their facts as they are. */
const FORMS: Readonly<Record<string, (facts: Facts) => Data>> = {
  domain: ({ terminated, expire, ...facts }) => ({ ...facts, terminated: terminated === 1, expire: timingOf(Number(expire)) }),
  dedicated: ({ state, terminated, renew, ...facts }) => ({
    ...facts,
    deployed: state === 'deployed',
    terminated: terminated === 1,
    renew: state !== 'deployed' || renew === null || renew === undefined ? null : new Date(Number(renew) * 1000).toISOString(),
  }),
  invoice: ({ total, credited, ...facts }) => ({ ...facts, total: eurosOf(total), credited: eurosOf(credited) }),
  payment: ({ amount, ...facts }) => ({ ...facts, amount: eurosOf(amount) }),
  account: ({ suspended_at }) => ({ suspended: suspended_at !== null }),
};

/** The `data` of an event. It has no secret, and no free text except the names of VMs and why the provider set an abuse status. */
export function dataOf(type: string, facts: Facts): Data {
  const [family = ''] = type.split('.');
  return FORMS[family]?.(facts) ?? facts;
}

function eurosOf(amount: string | number | null | undefined): number {
  return numberOf(BigInt(amount ?? 0));
}
