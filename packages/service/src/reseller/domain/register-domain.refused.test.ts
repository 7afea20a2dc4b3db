import { pino } from 'pino';
import { expect, test } from 'vitest';

import { footprint, handleOf, pauseRegistrar, PHONE, register, untilReserved } from '../../../test/domains.ts';
import { SECRET, sharedService, startService } from '../../../test/harness.ts';
import { createService } from '../../service.ts';

const customer = sharedService();

test.each([
  ['no domain', { domain: undefined }, 'domain', 'required'],
  ['a TLD alone', { domain: 'net' }, 'domain', 'pattern'],
  ['a name with a blank', { domain: 'reseller customer.net' }, 'domain', 'pattern'],
  ['a name with a path', { domain: 'reseller-customer.net/x' }, 'domain', 'pattern'],
  ['a NUL byte', { domain: 'reseller\u0000.net' }, 'domain', 'pattern'],
  ['a name of 300 characters', { domain: `${'a.'.repeat(150)}net` }, 'domain', 'maxLength'],
  ['a long name in another script', { domain: `${'ü'.repeat(60)}.net` }, 'domain', 'domain'],
  ['an encoded name that does not decode', { domain: 'xn--a.net' }, 'domain', 'domain'],
  ['an address', { domain: '198.51.100.aa' }, 'domain', 'tld'],
  ['a TLD without a price', { domain: 'reseller-customer.zz' }, 'domain', 'tld'],
  ['a public suffix without a price', { domain: 'reseller-customer.gov.uk' }, 'domain', 'tld'],
  ['a subdomain', { domain: 'www.reseller-customer.net' }, 'domain', 'registrable'],
  ['a subdomain below co.uk', { domain: 'www.reseller-customer.co.uk' }, 'domain', 'registrable'],
  ['a public suffix', { domain: 'co.uk' }, 'domain', 'registrable'],
  ['no handle', { handle: undefined }, 'handle', 'required'],
  ['an unknown handle', { handle: 'HDL-999999' }, 'handle', 'exists'],
  ['a handle that is SQL', { handle: "' OR '1'='1" }, 'handle', 'pattern'],
  ['a handle with a NUL byte', { handle: 'HDL-\u0000' }, 'handle', 'pattern'],
  ['an authcode that is not accepted', { authcode: 'wrong' }, 'authcode', 'accepted'],
  ['an empty authcode', { authcode: '' }, 'authcode', 'minLength'],
  ['one nameserver without the other', { ns1: 'ns1.reseller-dns.example' }, 'ns2', 'dependentRequired'],
  ['the other without the one', { ns2: 'ns2.reseller-dns.example' }, 'ns1', 'dependentRequired'],
  ['the same nameserver twice', { ns1: 'ns1.reseller-dns.example', ns2: 'NS1.reseller-dns.example' }, 'ns2', 'distinct'],
  ['a nameserver that is an address', { ns1: '198.51.100.1', ns2: 'ns2.reseller-dns.example' }, 'ns1', 'pattern'],
  ['a nameserver that does not decode', { ns1: 'ns1.xn--a.example', ns2: 'ns2.reseller-dns.example' }, 'ns1', 'domain'],
  ['a third nameserver', { ns3: 'ns3.reseller-dns.example' }, 'ns3', 'unknown'],
])('%s: responds with 422 that names the field and the rule, and changes nothing', async (_, wrong, field, rule) => {
  const service = await customer();
  const handle = await handleOf(service);
  const before = await footprint(service);
  const { status, body } = await service.call('registerDomain', {
    form: { domain: 'reseller-customer.net', handle, ...wrong },
    idempotencyKey: 'one',
  });
  expect(status).toBe(422);
  expect(body.type).toBe('validation_failed');
  expect(body.data.fields).toContainEqual({ field, rule, message: expect.stringMatching(/\w/) });
  expect(await footprint(service)).toEqual(before);
  const log = await service.call('listRequests');
  expect(log.body.data[0]).toMatchObject({ success: 0, error_type: 'validation_failed', method: 'POST', endpoint: '/domain/register' });
});

test('refuses the word default as a nameserver, and names the operation that accepts it', async () => {
  const service = await customer();
  const { status, body } = await service.call('registerDomain', {
    form: { domain: 'reseller-customer.net', handle: await handleOf(service), ns1: 'default', ns2: 'ns2.reseller-dns.example' },
  });
  expect(status).toBe(422);
  expect(body.data.fields).toEqual([
    {
      field: 'ns1',
      rule: 'pattern',
      message:
        'must be the domain of a nameserver, such as ns1.reseller-dns.example; for the standard nameservers leave ns1 and ns2 out, since only POST /domain/{domain}/nameserver accepts the word default',
    },
  ]);
});

test('names every broken rule in one response', async () => {
  const service = await customer();
  const { body } = await service.call('registerDomain', {
    form: { domain: 'reseller-customer.zz', handle: 'HDL-999999', ns1: 'ns1.a.example', ns2: 'ns1.a.example' },
  });
  expect(body.data.fields.map(({ field, rule }: { field: string; rule: string }) => `${field} ${rule}`)).toEqual([
    'domain tld',
    'handle exists',
    'ns2 distinct',
  ]);
});

test('requires a handle with a phone number for .de domains only', async () => {
  const service = await customer();
  const handle = await handleOf(service, {});
  const before = await footprint(service);
  const { status, body } = await service.call('registerDomain', { form: { domain: 'bücher.DE', handle } });
  expect(status).toBe(422);
  expect(body.data.fields).toEqual([
    {
      field: 'handle',
      rule: 'phone',
      message: `must name a handle with a phone number when the domain is a .de domain; ${handle} has none`,
    },
  ]);
  expect(await footprint(service)).toEqual(before);
  expect((await service.call('registerDomain', { form: { domain: 'reseller-customer.net', handle } })).status).toBe(200);
});

test('refuses a handle of another account like an unknown one', async () => {
  const service = await customer();
  const handle = await handleOf(service);
  const { apiKey } = await service.account();
  const theirs = await service.call('registerDomain', { form: { domain: 'reseller-customer.net', handle }, apiKey });
  const unknown = await service.call('registerDomain', { form: { domain: 'reseller-customer.net', handle: 'HDL-ABCDEFGHJKLM' }, apiKey });
  expect(theirs.status).toBe(422);
  expect(JSON.stringify(theirs.body.data).replaceAll(handle, '')).toEqual(
    JSON.stringify(unknown.body.data).replaceAll('HDL-ABCDEFGHJKLM', ''),
  );
});

test('responds with 409 to a domain of any account, and says what to do', async () => {
  const service = await customer();
  await register(service, 'bücher.de');
  const { apiKey } = await service.account();
  const mine = { form: { domain: 'bücher.de', handle: await handleOf(service) } };
  const theirs = { form: { domain: 'XN--BCHER-KVA.de', handle: await handleOf(service, { apiKey, phone: PHONE }) }, apiKey };
  const before = await footprint(service);
  for (const sent of [mine, theirs]) {
    const { status, body } = await service.call('registerDomain', sent);
    expect({ status, type: body.type, message: body.message }).toEqual({
      status: 409,
      type: 'wrong_state',
      message: expect.stringContaining('Choose another name, or send the authcode'),
    });
  }
  expect(await footprint(service)).toEqual(before);
});

test('responds with 409 to a domain of another provider, and changes nothing', async () => {
  const service = await startService();
  const handle = await handleOf(service);
  const before = await footprint(service);
  const { status, body } = await service.call('registerDomain', { form: { domain: 'taken-name.net', handle }, idempotencyKey: 'one' });
  expect({ status, type: body.type }).toEqual({ status: 409, type: 'wrong_state' });
  expect(await footprint(service)).toEqual(before);
});

test('gives a name to one of many concurrent registrations, and charges only that one', async () => {
  const service = await startService();
  const { apiKey } = await service.account();
  const handles = [await handleOf(service), await handleOf(service, { apiKey, phone: PHONE })];
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      service.call('registerDomain', {
        form: { domain: 'reseller-customer.net', handle: handles[index % 2] },
        ...(index % 2 && { apiKey }),
      }),
    ),
  );
  expect(responses.map(({ status }) => status).toSorted()).toEqual([200, ...Array<number>(19).fill(409)]);
  const charges = await service.store.read((db) => db.selectFrom('charges').select('amount').execute());
  expect(charges).toEqual([{ amount: 1_100_000_000 }]);
  const held = await service.store.read((db) => db.selectFrom('accounts').select('held').where('held', '>', 0).execute());
  expect(held).toEqual([{ held: 1_100_000_000 }]);
});

test('responds with 402 beyond the credit limit, and changes nothing', async () => {
  const service = await startService({ creditLimit: '10.99' });
  const handle = await handleOf(service);
  const before = await footprint(service);
  const { status, body } = await service.call('registerDomain', { form: { domain: 'reseller-customer.net', handle } });
  expect({ status, type: body.type }).toEqual({ status: 402, type: 'credit_limit_exceeded' });
  expect(await footprint(service)).toEqual(before);
  expect((await service.call('registerDomain', { form: { domain: 'reseller-customer.de', handle } })).status).toBe(200);
});

test('accepts exactly as many concurrent purchases as the credit limit allows', async () => {
  // Each costs 11.00.
  const service = await startService({ creditLimit: '50.00' });
  const handle = await handleOf(service);
  const responses = await Promise.all(
    Array.from({ length: 10 }, (_, index) => service.call('registerDomain', { form: { domain: `customer-${index}.net`, handle } })),
  );
  expect(responses.map(({ status }) => status).toSorted()).toEqual([...Array<number>(4).fill(200), ...Array<number>(6).fill(402)]);
  expect((await service.call('listDomains')).body.data.list).toHaveLength(4);
  expect(service.registrar.domains.size).toBe(4);
});

test('repeats the response for the same key and form, and registers one domain', async () => {
  const service = await startService();
  const form = { domain: 'reseller-customer.net', handle: await handleOf(service) };
  const first = await service.call('registerDomain', { form, idempotencyKey: 'order-1' });
  const second = await service.call('registerDomain', { form, idempotencyKey: 'order-1' });
  expect(second).toMatchObject({ status: 200, body: first.body });
  expect((await service.call('registerDomain', { form: { ...form, domain: 'other.net' }, idempotencyKey: 'order-1' })).body.type).toBe(
    'idempotency_key_reused',
  );
  expect((await service.call('getCurrentInvoice')).body.data.currentInvoiceTotal).toBe(11);
});

test('responds with 503 if the registrar fails, undoes the purchase on both sides, and accepts it again', async () => {
  const service = await startService();
  const form = { domain: 'reseller-customer.net', handle: await handleOf(service) };
  const before = await footprint(service);
  service.registrar.failing = new Error('no route to the registry');
  const { status, body } = await service.call('registerDomain', { form, idempotencyKey: 'one' });
  expect(status).toBe(503);
  expect(JSON.stringify(body)).not.toContain('route');
  expect(await footprint(service)).toEqual(before);
  expect((await service.call('registerDomain', { form, idempotencyKey: 'one' })).status).toBe(200);
});

test('undoes an interrupted purchase at the next start', async () => {
  const service = await startService();
  const form = { domain: 'reseller-customer.net', handle: await handleOf(service) };
  const before = await footprint(service);
  const resume = pauseRegistrar(service);
  const pending = service.call('registerDomain', { form });
  await untilReserved(service);
  // The domain is not listed, and no other account can register it.
  expect((await service.call('listDomains')).body.data.list).toEqual([]);
  expect((await service.call('getDomain', { path: { domain: 'reseller-customer.net' } })).status).toBe(404);
  expect((await service.call('registerDomain', { form })).status).toBe(409);
  // As after a crash. On PostgreSQL, the lease of the dead instance has expired.
  await service.store.commit(({ db }) => db.deleteFrom('instances').execute());
  const next = await createService({ store: service.store, ports: service.ports, secret: SECRET, logger: pino({ level: 'silent' }) });
  await next.settled();
  await next.close();
  expect(await footprint(service)).toEqual(before);
  resume();
  expect((await pending).status).toBe(503);
  expect(await footprint(service)).toEqual(before);
});
