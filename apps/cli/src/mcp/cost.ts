/** The cost of a change that has no quote in its API: a VM that starts again, and the purchases of the operator API. */
import { moneyOf } from '@reseller/contract/engine';
import type { Price } from '@reseller/contract/engine';

import type { Api } from '../api.ts';
import type { Caller } from '../caller.ts';
import { Failure } from '../failure.ts';
import type { Input } from '../input.ts';
import { quote } from '../price.ts';

type Read = (id: string, path?: Readonly<Record<string, string>>, query?: Readonly<Record<string, unknown>>) => Promise<unknown>;

/**
 * The price of a change whose effect is a cost.
 *
 * @returns null if this input costs nothing, and undefined if the service does not state the price
 */
export async function costOf(api: Api, caller: Caller, id: string, input: Input): Promise<Price | null | undefined> {
  const read: Read = async (wanted, path = {}, query = {}) => {
    const command = api.commands.find(({ operation }) => operation.id === wanted);
    if (!command) throw new Failure(`The document has no operation ${wanted}.`);
    return (await caller.call(command.operation, { path, query, body: undefined })).data;
  };
  switch (id) {
    case 'setVmPower':
      return input.body?.['mode'] === 'start' ? startedVm(api, caller, read, input) : null;
    case 'startVm':
    case 'restartVmBilling':
      return monthly(member(await read('getVm', input.path), 'monthly_price'), 'for each 30 days that it runs');
    case 'resizeVm':
      return resizedVm(read, input);
    case 'orderDedicatedServer':
      return orderedServer(read, String(input.body?.['market_id']));
    default:
      return undefined;
  }
}

/** The quote of a change that changes nothing is the price of the VM as it is. */
async function startedVm(api: Api, caller: Caller, read: Read, input: Input): Promise<Price | undefined> {
  const change = api.commands.find(({ operation }) => operation.id === 'changeVm');
  const cores = member(await read('getVmConfig', input.path), 'config', 'cores');
  if (!change || typeof cores !== 'number') return undefined;
  return (await quote(api, caller, change.operation, { path: input.path, query: {}, body: { cores } })).price;
}

const MB_PER_GB = 1024n;
const INCLUDED = { ips: 1n, backupSlots: 2n, mbit: 1000n };

/** The list prices. A VM of a sale may cost less. */
async function resizedVm(read: Read, { path, body }: Input): Promise<Price | undefined> {
  const vm = { ...Object(await read('getVm', path)), ...body };
  const prices = member(await read('getHostSystem', { hostsystem: String(vm.hostsystem) }), 'prices');
  const parts: readonly (readonly [name: string, quantity: bigint, per?: bigint])[] = [
    ['core', quantity(vm.cores)],
    ['mem', quantity(vm.mem), MB_PER_GB],
    ['nvme', quantity(vm.disk)],
    ['hdd', quantity(vm.storage)],
    ['extra_ip', beyond(quantity(vm.ips), INCLUDED.ips)],
    ['extra_backup_slot', beyond(quantity(vm.backup_slots), INCLUDED.backupSlots)],
    ['extra_gbit', (beyond(quantity(vm.network_speed), INCLUDED.mbit) + INCLUDED.mbit - 1n) / INCLUDED.mbit],
  ];
  let net = 0n;
  for (const [name, amount, per = 1n] of parts) {
    const each = moneyOf(member(prices, name));
    if (each === undefined) return undefined;
    net += (each * amount) / per;
  }
  return { net, gross: undefined, basis: 'at most, for each 30 days that it runs' };
}

async function orderedServer(read: Read, marketId: string): Promise<Price | undefined> {
  let cursor: unknown;
  do {
    const page = await read('listMarketItems', {}, cursor === undefined ? {} : { cursor });
    const items = member(page, 'items');
    const offer: unknown = Array.isArray(items) ? items.find((item) => member(item, 'id') === marketId) : undefined;
    if (offer !== undefined) return monthly(member(offer, 'price'), `for each ${String(member(offer, 'runtime_days'))} days`);
    cursor = member(page, 'next_cursor') ?? undefined;
  } while (cursor !== undefined);
  return undefined;
}

function monthly(amount: unknown, basis: string): Price | undefined {
  const net = moneyOf(amount);
  return net === undefined ? undefined : { net, gross: undefined, basis };
}

function quantity(value: unknown): bigint {
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : 0n;
}

function beyond(amount: bigint, included: bigint): bigint {
  return amount > included ? amount - included : 0n;
}

function member(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((at, name) => Reflect.get(Object(at), name), value);
}
