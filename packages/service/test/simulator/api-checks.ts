/** Checks that the API returns the data of the model. */
import { expect } from 'vitest';

import { decimalOf, euros } from '../../src/rules/money.ts';
import { checkBackups } from './actions-backups.ts';
import { expectedRecord } from './actions-dns.ts';
import { checkIps } from './actions-ips.ts';
import { checkNames } from './actions-rdns.ts';
import { checkUsage } from './actions-usage.ts';
import { decimal, less, numberOf, numberOfCents, over, times } from './fraction.ts';
import type { Fraction } from './fraction.ts';
import { chargesIn, currentInvoice, isOpen, iso, positionsIn } from './model-billing.ts';
import { expectedDnssec } from './model-dnssec.ts';
import { invoicesOf } from './model-invoices.ts';
import { settleModel } from './model-jobs.ts';
import { balanceOf, grossLeft, invoiceOf } from './model-payments.ts';
import { listedAt } from './model-prices.ts';
import { grossOf, netOf, rateAt } from './model-vat.ts';
import type { ModelVat } from './model-vat.ts';
import type { ModelAccount, ModelDomain, ModelRecord, ModelSale } from './model.ts';
import type { Simulation } from './simulation.ts';
import { monthAfter } from './virtual-clock.ts';

/** Compares the current invoice, the list of closed invoices, and the details of each new invoice and of one older invoice. */
export async function checkBilling(sim: Simulation, account: ModelAccount): Promise<void> {
  const { client, model, clock, dice } = sim;
  const now = clock.seconds();
  const current = await client.call(account, 'getCurrentInvoice');
  settleModel(sim, account);
  expect(current.data(), `current invoice of ${account.name}`).toEqual(currentInvoice(model, account, now));

  const expected = invoicesOf(model, account, now);
  const listed = Object.entries((await client.call(account, 'listInvoices')).data());
  expect(
    listed.map(([, { created, total, status }]) => ({ created, total, status })),
    `invoices of ${account.name}`,
  ).toEqual(
    expected
      .toReversed()
      .map(({ month, cents: total, status }) => ({ created: iso(monthAfter(month)), total: numberOfCents(total), status })),
  );

  const other = dice.pickAny(expected);
  for (const invoice of expected) {
    const { month } = invoice;
    const [id = '', summary] = listed.find(([, { created }]) => created === iso(monthAfter(month))) ?? [];
    const known = account.invoiceIds.get(month);
    expect(id).toBe(known ?? id);
    account.invoiceIds.set(month, id);
    if (known !== undefined && invoice !== other) continue;
    const detail = await client.call(account, 'getInvoice', { path: { invoiceID: id } });
    const positions = { vms: positionsIn(model, account, month, now), ...chargesIn(model, account, month) };
    expect(detail.data(), `invoice ${id} of ${account.name}`).toEqual({ ...summary, positions });
  }
}

/** Compares the documents and the payments of an account. */
export async function checkDocuments(sim: Simulation, account: ModelAccount): Promise<void> {
  const { client, model } = sim;
  const { list } = (await client.call(account, 'listDocuments')).data();
  settleModel(sim, account);
  const actual = list.map(({ kind, invoiceID, reason, net, vat, gross, unpaid }) => ({ kind, invoiceID, reason, net, vat, gross, unpaid }));
  const expected = [...account.documents].flatMap(([month, document]) => {
    const { sums, notes, paid } = document;
    const invoiceID = account.invoiceIds.get(month);
    const isUnpaid = invoiceOf(model, account, month)?.status === 'OPEN';
    return [
      { kind: 'invoice', invoiceID, reason: null, ...amountsOf(sums), unpaid: numberOfCents(isUnpaid ? grossLeft(document) - paid : 0n) },
      ...notes.map((note) => ({ kind: 'credit_note', invoiceID, reason: note.reason, ...amountsOf(note.sums), unpaid: 0 })),
    ];
  });
  const inOrder = (documents: readonly object[]) => documents.map((one) => JSON.stringify(one)).toSorted();
  expect(inOrder(actual), `documents of ${account.name}`).toEqual(inOrder(expected));

  const payments = (await client.call(account, 'listPayments')).data();
  expect(payments.balance).toBe(numberOfCents(balanceOf(account)));
  expect(
    payments.list.map(({ kind, amount, unused, reversed, pays }) => ({
      kind,
      amount,
      unused,
      isReversed: reversed !== null,
      pays: new Map(pays.map((one) => [one.invoiceID, one.amount])),
    })),
    `payments of ${account.name}`,
  ).toEqual(
    account.payments.toReversed().map(({ kind, amount, unused, isReversed, uses }) => ({
      kind,
      amount: numberOfCents(amount),
      unused: numberOfCents(unused),
      isReversed,
      pays: new Map(
        [...uses].flatMap(([month, part]) =>
          typeof month === 'string' ? [] : [[account.invoiceIds.get(month) ?? '', numberOfCents(part)] as const],
        ),
      ),
    })),
  );
}

function amountsOf(sums: readonly ModelVat[]) {
  return {
    net: numberOfCents(netOf(sums)),
    vat: sums.map(({ basisPoints, net, vat }) => ({ rate: basisPoints / 100, net: numberOfCents(net), amount: numberOfCents(vat) })),
    gross: numberOfCents(grossOf(sums)),
  };
}

/** Compares the sales that an account sees. */
export async function checkSales({ client, model, clock }: Simulation, account: ModelAccount): Promise<void> {
  const open = model.sales.filter((sale) => isOpen(sale, account, clock.now()));
  const listed = (await client.call(account, 'listSales')).data();
  const actual = listed.map(({ title, startDate, stopDate, upgradable, maxVolume, usedVolume, pricings }) => ({
    title,
    startDate: startDate.value,
    stopDate: stopDate.value,
    upgradable: upgradable.value,
    maxVolume: maxVolume.value,
    usedVolume: usedVolume.value,
    pricings: pricings.value,
  }));
  const expected = open
    .toSorted((a, b) => a.start - b.start || (a.id < b.id ? -1 : 1))
    .map((sale) => expectedSale(sale, rateAt(model, account, Math.floor(Math.max(clock.now(), sale.start) / 1000))));
  expect(actual, `sales of ${account.name}`).toEqual(expected);
}

/** Compares the list prices. */
export async function checkPrices({ client, model, clock }: Simulation, account: ModelAccount): Promise<void> {
  const hosts = (await client.call(account, 'listVmHosts')).data();
  const actual = hosts.flatMap(({ name, prices }) =>
    Object.entries(prices ?? {}).map(([resource, { price_net }]) => [name, resource, price_net]),
  );
  const expected = hosts.flatMap(({ name, prices }) => {
    const listed = new Map(Object.entries(listedAt(model, name, clock.now()).prices));
    return Object.keys(prices ?? {}).map((resource) => [name, resource, decimalOf(euros(listed.get(resource) ?? ''))]);
  });
  expect(actual, 'the price list').toEqual(expected);
}

function expectedSale({ title, start, stop, upgradable, max, used, prices }: ModelSale, basisPoints: number): object {
  const expectedPrice = (net: Fraction) => ({
    price_net: expect.toSatisfy((text: string) => !less(decimal(text), net) && !less(net, decimal(text))),
    price_gross: numberOf(over(times(net, 10_000 + basisPoints), 10_000)),
  });
  const pricings = [...prices].map(([host, listed]) => [
    host,
    Object.fromEntries(Object.entries(listed).map(([resource, net]) => [resource, expectedPrice(net)])),
  ]);
  return {
    title,
    startDate: new Date(start).toISOString(),
    stopDate: stop === null ? null : new Date(stop).toISOString(),
    upgradable,
    maxVolume: max,
    usedVolume: used,
    pricings: Object.fromEntries(pricings),
  };
}

/** Compares the dedicated servers of an account, and the market. */
export async function checkServers(sim: Simulation, account: ModelAccount): Promise<void> {
  const { client, model } = sim;
  const { list } = (await client.call(account, 'listDedicatedServers')).data();
  settleModel(sim, account);
  const own = model.servers.filter((server) => server.account === account && server.state !== 'ended');
  expect(
    list.map(({ identifier, deployed, accounting, management }) => ({
      identifier,
      deployed,
      renew: accounting.renew,
      terminated: accounting.terminated,
      net: accounting.price.net,
      isManaged: management !== null,
    })),
    `servers of ${account.name}`,
  ).toEqual(
    own
      .toSorted((a, b) => (a.ordered ?? 0) - (b.ordered ?? 0) || (a.id < b.id ? -1 : 1))
      .map(({ id, state, due, terminated, price }) => ({
        identifier: id,
        deployed: state === 'deployed',
        renew: state === 'deployed' && due !== null ? iso(due) : null,
        terminated,
        net: numberOf(price),
        isManaged: state === 'deployed',
      })),
  );
  const market = (await client.call(account, 'listDedicatedMarket')).data().list.map(({ identifier }) => identifier);
  expect(market.toSorted()).toEqual(model.servers.flatMap(({ id, state }) => (state === 'offered' ? [id] : [])).toSorted());
}

/** A domain is locked for its first 60 days. */
const LOCK_SECONDS = 60 * 86_400;

/** Compares the domains of an account with their details and DNS records. */
export async function checkDomains(sim: Simulation, account: ModelAccount): Promise<void> {
  const { client, model, clock } = sim;
  const { list } = (await client.call(account, 'listDomains')).data();
  settleModel(sim, account);
  const own = [...model.domains.values()].filter((domain) => domain.account === account && domain.state !== 'reserved');
  expect(list, `domains of ${account.name}`).toEqual(own.map(({ name }) => name).toSorted());
  for (const domain of own) {
    const info = await client.call(account, 'getDomain', { path: { domain: domain.name } });
    expect(info.data(), `domain of ${account.name}`).toEqual(expectedDomain(domain, clock.seconds()));
    const dnssec = await client.call(account, 'getDomainDnssec', { path: { domain: domain.name } });
    expect(dnssec.data(), `DNSSEC of ${domain.name}`).toEqual(expectedDnssec(domain, clock.seconds()));
    await checkRecords(sim, domain);
  }
}

/** Compares the DNS records of a domain. The model learns identifiers that an earlier response did not contain. */
async function checkRecords({ client }: Simulation, domain: ModelDomain): Promise<void> {
  const listed = (await client.call(domain.account, 'listDomainDns', { path: { domain: domain.name } })).data();
  const records = domain.records.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  expect(listed, `DNS records of ${domain.name}`).toEqual(records.map((record) => expectedRecord(domain, record)));
  for (const [index, record] of records.entries()) record.id ??= listed[index]?.record_id;
}

function keyOf({ sub, type, data }: ModelRecord): string {
  return [sub, type, data].join(' ');
}

/** Compares the VMs of an account, and the details of one of them. */
export async function checkVms(sim: Simulation, account: ModelAccount): Promise<void> {
  const { client, model, dice } = sim;
  const { list, total_vms } = (await client.call(account, 'listVms')).data();
  const own = model.vms.filter((vm) => vm.account === account && vm.state !== 'removed').toSorted((one, other) => one.id - other.id);
  expect(total_vms).toBe(own.length);
  expect(
    list
      .map(({ vmid, status, config, node, hostsystem }) => ({ vmid, status, config, node, host: hostsystem.name }))
      .toSorted((one, other) => one.vmid - other.vmid),
    `VMs of ${account.name}`,
  ).toEqual(
    own.map(({ id: vmid, state: status, resources: { cores, mem, disk }, node, host }) => ({
      vmid,
      status,
      config: { cores, mem, disk },
      node,
      host,
    })),
  );
  const vm = dice.pickAny(own);
  if (!vm) return;
  const path = { vmid: String(vm.id) };
  const { status, task } = (await client.call(account, 'getVmStatus', { path })).data();
  expect(status).toBe(vm.state);
  if (!vm.changing) expect(task).toBeNull();
  const { config, pricings, monitoring, abuse_status, abuse_reason, abuse_statement } = (
    await client.call(account, 'getVmConfig', { path })
  ).data();
  expect(monitoring).toMatchObject(vm.monitoring);
  expect({ status: abuse_status, reason: abuse_reason, statement: abuse_statement }).toEqual(vm.abuse);
  // The API shows the new addresses of a change while it is in progress.
  if (!vm.changing) {
    expect(config.ipv4.map(({ ip_address }) => ip_address).toSorted()).toEqual(vm.ipv4.toSorted());
    const unused = config.ipv4.filter((one) => one.requires_restart).map(({ ip_address }) => ip_address);
    expect(unused.toSorted(), `addresses of VM ${vm.id} that need a restart`).toEqual(
      vm.state === 'running' ? [...vm.unusedIps].toSorted() : [],
    );
  }
  expect(config.password_enabled).toBe(true);
  expect(pricings?.monthly).toBe(numberOf(vm.price));
  await checkIps(sim, account);
  await checkNames(sim, account, vm);
  await checkBackups(sim, account, vm);
  await checkUsage(sim, account, vm);
}

function expectedDomain(domain: ModelDomain, now: number): object {
  const { name, tld, authcode, created, expires, terminated, handle, nameservers, transferLock } = domain;
  const timing = (instant: number): string => iso(instant).slice(0, 19).replace('T', ' ');
  const [ns1 = null, ns2 = null, ns3 = null, ns4 = null, ns5 = null] = nameservers;
  return {
    domain: {
      name,
      tld,
      sld: name.slice(0, -tld.length - 1),
      authcode,
      status: transferLock || now < created + LOCK_SECONDS ? 'LOCK' : 'OK',
      terminated,
      transfer_lock: transferLock,
    },
    handle: { ownerC: handle, adminC: handle, techC: handle, zoneC: handle },
    nameserver: { ns1, ns2, ns3, ns4, ns5 },
    timings: { create: timing(created), expire: timing(expires) },
  };
}

/** Compares the newest page of the request log and an older one. */
export async function checkLog({ client, dice }: Simulation, account: ModelAccount): Promise<void> {
  for (const offset of [0, dice.integer(1, account.requests.length + 3)]) {
    const expected = account.requests.toReversed().slice(offset, offset + 50);
    const listed = (await client.call(account, 'listRequests', { form: offset === 0 ? {} : { offset } })).data();
    expect(
      listed.map(({ method, endpoint, success, error_type }) => ({ method, endpoint, success, error_type })),
      `request log of ${account.name} from ${offset} on`,
    ).toEqual(
      expected.map(({ method, path, errorType }) => ({
        method,
        endpoint: path,
        success: errorType === null ? 1 : 0,
        error_type: errorType,
      })),
    );
    const listedIds = listed.filter((_, index) => expected[index]?.requestId !== null).map(({ requestID }) => requestID);
    // The response to a repeated request has the requestID of the first request, but the log has that of the repetition.
    const knownIds = expected.filter(({ requestId }) => requestId !== null).map(({ requestId }) => requestId);
    expect(listedIds).toHaveLength(knownIds.length);
  }
}
