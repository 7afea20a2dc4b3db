/**
 * A second, simple implementation of the provider and its accounts. It uses none of the service's rules or operations: it knows only the
 * requests and their responses.
 */
import type { DsRecord } from '@reseller/adapters';

import type { ResourcePrices } from '../../src/rules/resources.ts';
import type { ModelReader } from './actions-events.ts';
import { hosts } from './catalogue.ts';
import type { SeededAccount, SeededPool } from './catalogue.ts';
import { decimal } from './fraction.ts';
import type { Fraction } from './fraction.ts';
import { advanceMonths } from './model-prices.ts';
import type { ModelRate, ModelTaxStatus, ModelVat } from './model-vat.ts';
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
/** The sale prices of a host system in EUR for 30 days. */
export type SalePrices = Readonly<Partial<Record<SaleResource, Fraction>>>;

export interface ModelSale {
  readonly id: string;
  readonly title: string;
  readonly accountId: string | null;
  /** Instants are in milliseconds. */
  readonly start: number;
  readonly stop: number | null;
  ended: number | null;
  readonly max: number;
  used: number;
  readonly upgradable: boolean;
  readonly prices: ReadonlyMap<string, SalePrices>;
}

/** The list prices of a host system from an instant on, as decimals in EUR for 30 days. */
export interface ModelPrices {
  /** Milliseconds. */
  readonly from: number;
  readonly prices: ResourcePrices;
  /** Whether existing VMs get these prices when their next month begins. */
  readonly isForAll: boolean;
}

/** A time in which a VM runs at one price. It can span months: each invoice has a position for its part. */
export interface Segment {
  readonly type: 'CREATE' | 'UP-DOWNGRADE' | 'BILLINGRESTART';
  readonly start: Seconds;
  stop: Seconds | null;
  /** EUR for 30 days. */
  readonly price: Fraction;
}

/** The resources and addresses of a VM, from the reservation of its purchase on. */
export interface Allocation {
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

export interface ModelVm extends Allocation {
  state: 'running' | 'stopped' | 'removed';
  /** Whether a change of the VM is in progress. */
  changing?: boolean;
  /** Whether the provider has stopped the VM. Then only the provider can start it. */
  isHeld?: boolean;
  os: string;
  /** The public key of its login user. */
  sshKey: string | null;
  /** The ISO file from which it boots. */
  iso: string | null;
  /** The text that each reinstallation gets. */
  userData: string | null;
  /** The oldest first. */
  readonly backups: ModelBackup[];
  /** Its addresses that need a restart. */
  readonly unusedIps: Set<string>;
  /** The IPv4 address that it keeps. */
  readonly firstIp: string;
  /** The name that its purchase has given its addresses. */
  readonly defaultPtr: string;
  /** The names that requests have set, by address. Null for one that was removed. */
  readonly names: Map<string, string | null>;
  /** Names and labels that an edit has set; undefined before. */
  edited?: { readonly hostname: string; readonly labels: Readonly<Record<string, string>> };
  /** What complaints about it led to. A blocked VM is stopped and billed. */
  readonly abuse: { status: string; reason: string | null; statement: string | null };
  monitoring: { enabled: boolean; port: number | null };
  readonly segments: Segment[];
}

/** A backup of a VM, with what the machine had. */
export interface ModelBackup {
  readonly id: string;
  readonly os: string;
  readonly sshKey: string | null;
  readonly hostname: string;
}

/** A purchase without a response yet. */
export interface VmReservation extends Allocation {
  readonly since: Seconds;
  /** Its hold in the month in which it began, in units of 10^-8 EUR. */
  readonly hold: bigint;
  /** The price of 30 days that it adds, which it holds for the whole of each later month. */
  readonly monthly: Fraction;
}

/** An amount that is charged once, in advance. */
export interface Charge {
  readonly account: ModelAccount;
  readonly kind: 'dedicated' | 'domains';
  readonly subject: string;
  readonly type: string;
  readonly start: Seconds;
  readonly stop: Seconds;
  readonly amount: Fraction;
  /** The first second of the month whose invoice has it. */
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
  account: ModelAccount;
  readonly tld: string;
  handle: string;
  /** `reserved` or `changing` until the call of the registrar ends. */
  state: 'reserved' | 'registered' | 'changing';
  readonly created: Seconds;
  expires: Seconds;
  terminated: boolean;
  authcode: string | null;
  nameservers: readonly string[];
  transferLock: boolean;
  /** Whose DS records resolvers may have, those at the registry, and when the resolvers have no nameservers or DS records of before. */
  readonly dnssec: { by: 'service' | 'account' | null; records: readonly DsRecord[]; settled: Seconds };
  readonly records: ModelRecord[];
}

export interface ModelRecord {
  /** Undefined until a response contains it. */
  id: string | undefined;
  type: string;
  sub: string;
  data: string;
  ttl: number;
}

export interface ModelWebhook {
  readonly id: string;
  readonly url: string;
  readonly events: string;
  description: string;
}

/** The expected log entry of a request. */
export interface ExpectedLogEntry {
  readonly method: string;
  readonly path: string;
  readonly errorType: string | null;
  /** Null if the response does not contain it. */
  readonly requestId: string | null;
}

/** What the service issued for the invoice of a month. Amounts are in cents. */
export interface ModelDocument {
  readonly sums: readonly ModelVat[];
  readonly notes: { readonly reason: string; readonly sums: readonly ModelVat[] }[];
  paid: bigint;
}

/** A payment or a refund. Amounts are in cents. */
export interface ModelPayment {
  readonly id: string;
  readonly name: string;
  readonly kind: 'payment' | 'refund';
  readonly amount: bigint;
  /** Milliseconds. */
  readonly created: number;
  /** The body of its request; undefined if the service chose it. */
  readonly body: PaymentBody | undefined;
  unused: bigint;
  isReversed: boolean;
  /** Its used parts: of invoices by the first second of their month, of refunds by their name. */
  readonly uses: Map<Seconds | string, bigint>;
}

export interface PaymentBody {
  readonly amount: string;
  readonly date: string;
  readonly method: string;
  readonly reference: string;
  readonly invoice_id?: string;
}

export interface ModelSshKey {
  readonly id: string;
  /** The public key in OpenSSH notation. */
  readonly text: string;
}

export interface ModelAccount extends SeededAccount {
  credit: Fraction;
  /** The first second of the current period. Earlier periods are closed. */
  period: Seconds;
  /** The paid and cancelled invoices by the first second of their month. */
  readonly settled: Map<Seconds, 'PAID' | 'CANCELED'>;
  /** The IDs of invoices that the API has returned. */
  readonly invoiceIds: Map<Seconds, string>;
  /** By the first second of the month. */
  readonly documents: Map<Seconds, ModelDocument>;
  /** In the order in which they are used. */
  readonly payments: ModelPayment[];
  /** In the order of their days. */
  readonly taxStatuses: ModelTaxStatus[];
  readonly requests: ExpectedLogEntry[];
  readonly handles: { readonly id: string; readonly hasPhone: boolean }[];
  readonly sshKeys: ModelSshKey[];
  readonly webhooks: ModelWebhook[];
  readonly reader: ModelReader;
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
  /** The credit that registrations in progress hold, in units of 10^-8 EUR. */
  readonly holds: { readonly account: ModelAccount; readonly amount: bigint }[];
  /** The VAT rates, the earliest first. */
  readonly rates: ModelRate[];
  /** Domains that ended with their year. The registrar may still have them. */
  readonly lapsed: Set<string>;
}

/** The domain of an account, unless its registration is still in progress. */
export function ownDomain({ domains }: Model, account: ModelAccount, name: string): ModelDomain | undefined {
  const domain = domains.get(name);
  return domain?.account === account && domain.state !== 'reserved' ? domain : undefined;
}

/** The model of the initial store. */
export function newModel(accounts: readonly SeededAccount[], pools: readonly SeededPool[], now: Seconds): Model {
  return {
    accounts: accounts.map((account) => ({
      ...account,
      credit: decimal(account.limit),
      period: monthOf(now),
      settled: new Map(),
      invoiceIds: new Map(),
      documents: new Map(),
      payments: [],
      taxStatuses: [],
      requests: [],
      handles: [],
      sshKeys: [],
      webhooks: [],
      reader: { cursor: undefined, known: new Map() },
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
    rates: [{ day: '1970-01-01', from: 0, basisPoints: 1900 }],
    lapsed: new Set(),
  };
}

/** Charges an amount in the month of an instant, or in the current month if that month is closed. */
export function charge(model: Model, wanted: Omit<Charge, 'month'>, at: Seconds): Charge {
  const { account } = wanted;
  advanceMonths(model, account, at);
  const charged = { ...wanted, month: account.period };
  model.charges.push(charged);
  return charged;
}

export function remove<T>(from: T[], one: T): void {
  const place = from.indexOf(one);
  if (place >= 0) from.splice(place, 1);
}
