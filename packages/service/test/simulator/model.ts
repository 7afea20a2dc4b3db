/**
 * The provider and its accounts once more, as plainly as they can be said. Nothing in the model is
 * taken from the service's rules or operations: it knows what was asked and what was answered.
 */
import type { ResourcePrices } from '../../src/rules/resources.ts';
import { hosts } from './catalogue.ts';
import type { SeededAccount, SeededPool } from './catalogue.ts';
import { decimal } from './fraction.ts';
import type { Fraction } from './fraction.ts';
import { turnMonths } from './model-prices.ts';
import { monthOf } from './virtual-clock.ts';

/** Seconds since 1970. */
export type Seconds = number;

export interface Resources {
  readonly cores: number;
  readonly mem: number;
  readonly disk: number;
  readonly ips: number;
  readonly backup_slots: number;
  readonly network_speed: number;
  readonly storage: number | null;
}

export type SaleResource = 'core' | 'mem' | 'nvme';
/** EUR for 30 days, of the resources that a sale lists for a host system. */
export type SalePrices = Readonly<Partial<Record<SaleResource, Fraction>>>;

export interface ModelSale {
  readonly id: string;
  readonly title: string;
  readonly accountId: string | null;
  /** Milliseconds. */
  readonly start: number;
  readonly stop: number | null;
  ended: number | null;
  readonly max: number;
  used: number;
  readonly upgradable: boolean;
  readonly prices: ReadonlyMap<string, SalePrices>;
}

/** The list prices of a host system from an instant on: EUR for 30 days, as decimals. */
export interface ModelPrices {
  /** Milliseconds. */
  readonly from: number;
  readonly prices: ResourcePrices;
  /** Whether existing VMs get them when their next month begins. */
  readonly isForAll: boolean;
}

/** A stretch of time at one price. A month's end does not end it: what of it lies in a month is a position there. */
export interface Stretch {
  readonly type: 'CREATE' | 'UP-DOWNGRADE' | 'BILLINGRESTART';
  readonly start: Seconds;
  stop: Seconds | null;
  /** EUR for 30 days. */
  readonly price: Fraction;
}

/** What a VM takes, from its reservation on. */
export interface Taken {
  readonly id: number;
  readonly account: ModelAccount;
  readonly host: string;
  readonly node: string;
  resources: Resources;
  readonly ipv4: string[];
  readonly ipv6: string[];
  sale: ModelSale | undefined;
  price: Fraction;
  /** The list prices that the price was calculated with. */
  listed: ModelPrices;
}

export interface ModelVm extends Taken {
  state: 'running' | 'stopped' | 'removed';
  /** Whether a change of it is under way. */
  changing?: boolean;
  /** Whether the provider stopped it last, so that only the provider starts it. */
  isHeld?: boolean;
  os: string;
  readonly stretches: Stretch[];
}

/** A purchase without a response yet. */
export interface VmReservation extends Taken {
  readonly since: Seconds;
  /** Units of 10^-8 EUR. */
  readonly hold: bigint;
}

/** What is charged once, in advance. */
export interface Charge {
  readonly account: ModelAccount;
  readonly kind: 'dedicated' | 'domains';
  readonly subject: string;
  readonly type: string;
  readonly start: Seconds;
  readonly stop: Seconds;
  readonly amount: Fraction;
  /** First second of the month whose invoice it is on. */
  readonly month: Seconds;
}

export interface ModelServer {
  readonly id: string;
  readonly price: Fraction;
  readonly days: number;
  account: ModelAccount | undefined;
  state: 'offered' | 'ordered' | 'deployed' | 'ended';
  terminated: boolean;
  due: Seconds | null;
  ordered: Seconds | null;
}

export interface ModelDomain {
  readonly name: string;
  readonly account: ModelAccount;
  readonly tld: string;
  readonly handle: string;
  /** `reserved` and `changing` while the registrar is at work. */
  state: 'reserved' | 'registered' | 'changing';
  readonly created: Seconds;
  expires: Seconds;
  terminated: boolean;
  authcode: string | null;
  nameservers: readonly string[];
  readonly records: ModelRecord[];
}

export interface ModelRecord {
  /** Undefined until the API has told it. */
  id: string | undefined;
  type: string;
  sub: string;
  data: string;
  ttl: number;
}

/** An answered request, as the log is to tell it. */
export interface AnsweredRequest {
  readonly method: string;
  readonly path: string;
  readonly errorType: string | null;
  /** Null where the answer does not tell it. */
  readonly requestId: string | null;
}

export interface ModelAccount extends SeededAccount {
  credit: Fraction;
  /** First second of the running period, as far as the service has come with it. */
  period: Seconds;
  /** Invoices that were paid or cancelled, by the first second of their month. */
  readonly settled: Map<Seconds, 'PAID' | 'CANCELED'>;
  /** IDs of invoices that the API has shown. */
  readonly invoiceIds: Map<Seconds, string>;
  readonly requests: AnsweredRequest[];
  readonly handles: { readonly id: string; readonly hasPhone: boolean }[];
}

export interface Model {
  readonly accounts: readonly ModelAccount[];
  readonly pools: readonly SeededPool[];
  readonly vms: ModelVm[];
  readonly reservations: VmReservation[];
  readonly sales: ModelSale[];
  /** The list prices of each host system, past and scheduled. */
  readonly prices: Map<string, ModelPrices[]>;
  readonly servers: ModelServer[];
  readonly domains: Map<string, ModelDomain>;
  readonly charges: Charge[];
  /** Units of 10^-8 EUR that are held for domains that are being registered. */
  readonly holds: { readonly account: ModelAccount; readonly amount: bigint }[];
  /** Names that ended with their year: the registrar let go of them by itself. */
  readonly lapsed: Set<string>;
}

/** A domain that the account has, and that is not only kept for it. */
export function ownDomain({ domains }: Model, account: ModelAccount, name: string): ModelDomain | undefined {
  const domain = domains.get(name);
  return domain?.account === account && domain.state !== 'reserved' ? domain : undefined;
}

/** The model of a store that was just filled. */
export function newModel(accounts: readonly SeededAccount[], pools: readonly SeededPool[], now: Seconds): Model {
  return {
    accounts: accounts.map((account) => ({
      ...account,
      credit: decimal(account.limit),
      period: monthOf(now),
      settled: new Map(),
      invoiceIds: new Map(),
      requests: [],
      handles: [],
    })),
    pools,
    vms: [],
    reservations: [],
    sales: [],
    prices: new Map(hosts.map(({ name, prices }) => [name, [{ from: 0, prices, isForAll: false }]])),
    servers: [],
    domains: new Map(),
    charges: [],
    holds: [],
    lapsed: new Set(),
  };
}

/** What is charged as of an instant goes to its month, or to the running one where that month is closed. */
export function charge(model: Model, what: Omit<Charge, 'month'>, at: Seconds): Charge {
  const { account } = what;
  turnMonths(model, account, at);
  const made = { ...what, month: account.period };
  model.charges.push(made);
  return made;
}

export function remove<T>(from: T[], one: T): void {
  const place = from.indexOf(one);
  if (place >= 0) from.splice(place, 1);
}
