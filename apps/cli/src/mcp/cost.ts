/** The cost of a change whose price the service states in another form than a quote of the reseller API. */
import { moneyOf, showMoney } from '@reseller/contract/engine';
import type { Price } from '@reseller/contract/engine';

import type { Api } from '../api.ts';
import type { Caller } from '../caller.ts';
import { Failure } from '../failure.ts';
import type { Input } from '../input.ts';
import { quote } from '../price.ts';

type Read = (id: string, input?: Partial<Input>) => Promise<unknown>;

function readerOf(api: Api, caller: Caller): Read {
  return async (wanted, given = {}) => {
    const command = api.commands.find(({ operation }) => operation.id === wanted);
    if (!command) throw new Failure(`The document has no operation ${wanted}.`);
    return (await caller.call(command.operation, { path: {}, query: {}, body: undefined, ...given })).data;
  };
}

/**
 * The price of a change whose effect is a cost.
 *
 * @returns null if this input costs nothing, and undefined if the service does not state the price
 */
export async function costOf(api: Api, caller: Caller, id: string, input: Input): Promise<Price | null | undefined> {
  const read = readerOf(api, caller);
  switch (id) {
    case 'setVmPower':
      return input.body?.['mode'] === 'start' ? startedVm(api, caller, read, input) : null;
    case 'startVm':
    case 'restartVmBilling':
      return monthly(member(await read('getVm', { path: input.path }), 'monthly_price'), 'for each 30 days that it runs');
    case 'resizeVm':
      return resizedVm(read, input);
    case 'orderDedicatedServer':
      return orderedServer(read, String(input.body?.['market_id']));
    default:
      return undefined;
  }
}

/**
 * What a VM costs before a change of its resources, so that an upgrade counts its difference.
 *
 * @returns undefined for an operation that changes no VM, or if the service does not state it
 */
export async function presentCostOf(api: Api, caller: Caller, id: string, input: Input): Promise<Price | undefined> {
  const read = readerOf(api, caller);
  if (id === 'changeVm') return startedVm(api, caller, read, input);
  return id === 'resizeVm' ? monthly(member(await read('getVm', { path: input.path }), 'monthly_price'), 'for each 30 days') : undefined;
}

/** The name of the customer whom a change is about; undefined if the input names none. */
export async function customerOf(api: Api, caller: Caller, { path, query, body }: Input): Promise<string | undefined> {
  if (api.name !== 'operator') return undefined;
  const read = readerOf(api, caller);
  try {
    const named = { ...body, ...query, ...path };
    const vm = named['vm_id'] === undefined ? undefined : await read('getVm', { path: { vm_id: String(named['vm_id']) } });
    const account = named['account_id'] ?? member(vm, 'account_id');
    if (typeof account !== 'string') return undefined;
    const name = member(await read('getAccount', { path: { account_id: account } }), 'name');
    return typeof name === 'string' ? name : undefined;
  } catch {
    // A token that may not read accounts can still ask.
    return undefined;
  }
}

/** The quote of a change that changes nothing is the price of the VM as it is. */
async function startedVm(api: Api, caller: Caller, read: Read, input: Input): Promise<Price | undefined> {
  const change = api.commands.find(({ operation }) => operation.id === 'changeVm');
  const cores = member(await read('getVmConfig', { path: input.path }), 'config', 'cores');
  if (!change || typeof cores !== 'number') return undefined;
  return (await quote(api, caller, change.operation, { path: input.path, query: {}, body: { cores } })).price;
}

async function resizedVm(read: Read, { path, body }: Input): Promise<Price | undefined> {
  const quoted = await read('quoteResizeVm', { path, body });
  const [net, gross] = amountsAt(quoted, 'price');
  const [netNow, grossNow] = amountsAt(quoted, 'until_period_end');
  if (net === undefined || netNow === undefined || grossNow === undefined) return undefined;
  const until = `${showMoney(netNow)} EUR net, ${showMoney(grossNow)} EUR gross until ${String(member(quoted, 'period_end')).slice(0, 10)}`;
  return { net, gross, basis: `for each 30 days that it runs; ${until}` };
}

function amountsAt(quoted: unknown, name: string): readonly [net: bigint | undefined, gross: bigint | undefined] {
  return [moneyOf(member(quoted, name, 'net')), moneyOf(member(quoted, name, 'gross'))];
}

async function orderedServer(read: Read, marketId: string): Promise<Price | undefined> {
  let cursor: unknown;
  do {
    const page = await read('listMarketItems', cursor === undefined ? {} : { query: { cursor } });
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

function member(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((at, name) => Reflect.get(Object(at), name), value);
}
