/** The work of support: finding the account of a resource, its requests and its debt. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { handleOf, register } from '../../test/domains.ts';
import { engines } from '../../test/engines.ts';
import { SMALL_VM } from '../../test/harness.ts';
import { refusalOf, startOperator } from '../../test/operator.ts';
import { START } from '../../test/ports/clock.ts';

type Filters = NonNullable<operator.ListAccountsData['query']>;

describe.each(engines)('on %s', (engine) => {
  test('finds an account by its VM, domain, handle and address, and by several of them only if it has all', async () => {
    const service = await startOperator({ engine });
    const { client } = service;
    const { id, apiKey } = await service.account();
    const vm = String((await service.call('createVm', { form: SMALL_VM, apiKey })).body.data.identifier);
    const others = String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
    await register(service, 'found.net', apiKey);
    const handle = await handleOf(service, { apiKey });
    const server = await orderedServer(client, id);
    const find = async (query: Filters) => (await operator.listAccounts({ client, query })).items.map((account) => account.id);

    const { ipv4, ipv6 } = await operator.getVm({ client, path: { vm_id: vm } });
    const [network = ''] = ipv6;
    const inside = network.replace('::/64', ':0:0:0:5').toUpperCase();
    const addresses = [ipv4[0] ?? '', inside, network.replace('/64', ''), '192.0.2.7', '2001:db8:77:ffff::1'];
    const filters: Filters[] = [{ vm }, { domain: 'FOUND.net' }, { handle }, ...addresses.map((address) => ({ address }))];
    for (const query of filters) expect({ query, found: await find(query) }).toEqual({ query, found: [id] });
    expect(await find({ vm, domain: 'found.net', handle, address: '192.0.2.7' })).toEqual([id]);

    const unassigned: Filters[] = [
      { vm: others, domain: 'found.net' },
      { vm: '99999' },
      { domain: 'not-found.net' },
      { handle: 'HDL-0' },
      { address: '192.0.2.8' },
      { address: '2001:db8:78::1' },
    ];
    for (const query of unassigned) expect({ query, found: await find(query) }).toEqual({ query, found: [] });
    for (const address of ['300.1.1.1', '1.2.3', ':::', '12345']) {
      expect(await refusalOf(find({ address }))).toMatchObject({ status: 400, message: expect.stringContaining('IPv4 or IPv6 address') });
    }
    await operator.removeVm({ client, path: { vm_id: vm } });
    expect([await find({ vm }), await find({ address: ipv4[0] ?? '' })]).toEqual([[id], []]);
    expect(server).toMatchObject({ deployed: true });
  });

  test('returns the same request log as to the reseller, in pages without gaps while requests arrive', async () => {
    const service = await startOperator({ engine });
    const { client } = service;
    const { id, apiKey } = await service.account();
    const sent: string[] = [];
    const send = async () => sent.unshift((await service.call('getCurrentInvoice', { apiKey })).body.requestID);
    await service.call('createVm', { form: { ...SMALL_VM, cores: 99 }, apiKey });
    await service.call('generateOtp', { apiKey });
    for (let count = 0; count < 5; count++) await send();
    const expected = [...sent];

    const seen: operator.AccountRequest[] = [];
    let cursor: string | undefined;
    do {
      const query = { limit: 3, ...(cursor === undefined ? {} : { cursor }) };
      const page = await operator.listAccountRequests({ client, path: { account_id: id }, query });
      seen.push(...page.items);
      cursor = page.next_cursor ?? undefined;
      await send();
    } while (cursor !== undefined);
    expect(seen.slice(0, 5).map(({ request_id }) => request_id)).toEqual(expected);
    expect(seen.slice(5)).toMatchObject([
      { endpoint: '/account/otp', success: true, response_body: expect.stringContaining('"otp_code":"***"') },
      { endpoint: '/vm/create', method: 'PUT', success: false, error_type: 'validation_failed', time: new Date(START).toISOString() },
    ]);
    const theirs = (await service.call('listRequests', { apiKey })).body.data;
    expect(theirs.at(-1)).toMatchObject({ requestID: seen.at(-1)?.request_id, response_body: seen.at(-1)?.response_body });
    const forged = { cursor: Buffer.from('["x"]').toString('base64url') };
    expect(await refusalOf(operator.listAccountRequests({ client, path: { account_id: id }, query: forged }))).toMatchObject({
      status: 400,
    });
  });

  test('returns the same current invoice as to the reseller, after it has closed the ended periods', async () => {
    const service = await startOperator({ engine });
    const { client } = service;
    const { id, apiKey } = await service.account();
    const { identifier } = (await service.call('createVm', { form: SMALL_VM, apiKey })).body.data;
    service.clock.advanceTo('2026-12-02T00:00:00Z');
    await register(service, 'billed.net', apiKey);
    service.clock.advance(86_400_000);
    const invoice = await operator.getAccountCurrentInvoice({ client, path: { account_id: id } });
    const { data } = (await service.call('getCurrentInvoice', { apiKey })).body;
    expect(invoice).toMatchObject({
      account_id: id,
      period_start: '2026-12-01T00:00:00.000Z',
      period_end: data.nextInvoiceDate,
      positions: [
        { kind: 'vm', subject: String(identifier), type: 'BILLINGRESTART', stop: null, runtime_seconds: 172_800, monthly_price: '10.40' },
        { kind: 'domain', subject: 'billed.net', type: 'CREATE', runtime_seconds: null, monthly_price: null },
      ],
    });
    const { total, estimated_total, credit_limit, remaining_credit } = invoice;
    expect([total, estimated_total, credit_limit, remaining_credit].map(Number)).toEqual([
      data.currentInvoiceTotal,
      data.estimatedInvoiceTotal,
      data.creditLimit,
      data.creditLimitRemaining,
    ]);
    expect(invoice.positions.map((position) => Number(position.total))).toEqual([
      data.positions.vms[identifier][0].totalPrice,
      data.positions.domains['billed.net'][0].totalPrice,
    ]);
    expect(await operator.listInvoices({ client, query: { account_id: id } })).toMatchObject({ items: [{ total: '7.11' }] });
  });
});

async function orderedServer(client: operator.Client, account_id: string) {
  const [offer] = (await operator.listMarketItems({ client })).items;
  const { id: server_id } = await operator.orderDedicatedServer({ client, body: { account_id, market_id: offer?.id ?? '' } });
  return operator.completeDedicatedSetup({
    client,
    path: { server_id },
    body: {
      management: { dashboard: 'https://x.invalid/', username: 'u', email: 'u@x.invalid', password: 'p' },
      ipv4: [{ address: '192.0.2.7', gateway: '192.0.2.1' }],
      ipv6: [{ address: '2001:0DB8:77::/48', gateway: '2001:db8:77::1' }],
    },
  });
}
