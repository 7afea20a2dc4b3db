import { expect, test } from 'vitest';

import { tablesWith } from '../../../test/contents.ts';
import { handleOf, PERSON, PHONE } from '../../../test/domains.ts';
import { startService } from '../../../test/harness.ts';

test('registers a domain for a year, with the standard nameservers and one handle for every contact', async () => {
  const service = await startService();
  const handle = await handleOf(service);
  const { status, body } = await service.call('registerDomain', { form: { domain: 'Reseller-Customer.net', handle } });
  expect(status).toBe(200);
  expect(body.message).toBe('The domain was registered.');
  expect(body.data).toEqual({
    domain: {
      name: 'reseller-customer.net',
      sld: 'reseller-customer',
      tld: 'net',
      authcode: null,
      status: 'LOCK',
      terminated: false,
      transfer_lock: false,
    },
    handle: { ownerC: handle, adminC: handle, techC: handle, zoneC: handle },
    nameserver: { ns1: 'ns1.provider.example', ns2: 'ns2.provider.example', ns3: null, ns4: null, ns5: null },
    timings: { create: '2026-11-10 12:03:17', expire: '2027-11-10 12:03:17' },
  });
  expect((await service.call('getDomain', { path: { domain: 'reseller-customer.net' } })).body.data).toEqual(body.data);
  const { gender, firstname, lastname, street, number, zipcode, city, region, countrycode, email } = PERSON;
  expect(service.registrar.domains.get('reseller-customer.net')).toEqual({
    contact: {
      handle,
      gender,
      firstname,
      lastname,
      organisation: null,
      street,
      number,
      zipcode,
      city,
      region,
      countrycode,
      email,
      phone: PHONE,
    },
    nameservers: ['ns1.provider.example', 'ns2.provider.example'],
    authcode: null,
    renewed: true,
    transferLock: false,
    dsRecords: [],
  });
});

test('sets the nameservers of the form', async () => {
  const service = await startService();
  const form = {
    domain: 'reseller-customer.net',
    handle: await handleOf(service),
    ns1: 'NS1.reseller-dns.example',
    ns2: 'ns2.bücher.example',
  };
  const { body } = await service.call('registerDomain', { form });
  expect(body.data.nameserver).toMatchObject({ ns1: 'ns1.reseller-dns.example', ns2: 'ns2.xn--bcher-kva.example', ns3: null });
  expect(service.registrar.domains.get('reseller-customer.net')?.nameservers).toEqual([
    'ns1.reseller-dns.example',
    'ns2.xn--bcher-kva.example',
  ]);
});

test('charges a year in advance', async () => {
  const service = await startService();
  const handle = await handleOf(service);
  await service.call('registerDomain', { form: { domain: 'reseller-customer.net', handle } });
  await service.call('registerDomain', { form: { domain: 'reseller-customer.de', handle, authcode: 'example-authcode-1' } });
  const { data } = (await service.call('getCurrentInvoice')).body;
  // net: 11.00; transfer of de: 4.20.
  expect(data).toMatchObject({ currentInvoiceTotal: 15.2, estimatedInvoiceTotal: 15.2, creditLimitRemaining: 984.8 });
  const year = { start: '2026-11-10T12:03:17.000Z', stop: '2027-11-10T12:03:17.000Z' };
  expect(data.positions.domains).toEqual({
    'reseller-customer.net': [{ type: 'CREATE', ...year, totalPrice: 11 }],
    'reseller-customer.de': [{ type: 'TRANSFER', ...year, totalPrice: 4.2 }],
  });
});

test('transfers a domain with the auth code of its current provider', async () => {
  const service = await startService();
  const form = { domain: 'taken-name.de', handle: await handleOf(service), authcode: 'example-authcode-1' };
  const { status, body } = await service.call('registerDomain', { form });
  expect(status).toBe(200);
  expect(body.message).toBe('The domain was transferred.');
  // The code is used up. The account now has a different one.
  expect(body.data.domain).toMatchObject({ name: 'taken-name.de', authcode: null, status: 'LOCK' });
  expect(body.data.timings).toEqual({ create: '2026-11-10 12:03:17', expire: '2027-11-10 12:03:17' });
});

test.each([
  ['bücher-reseller.de', 'xn--bcher-reseller-gsb.de', 'xn--bcher-reseller-gsb', 'de'],
  ['xn--bcher-reseller-gsb.de', 'xn--bcher-reseller-gsb.de', 'xn--bcher-reseller-gsb', 'de'],
  ['пример.рф', 'xn--e1afmkfd.xn--p1ai', 'xn--e1afmkfd', 'xn--p1ai'],
  ['reseller-customer.co.uk', 'reseller-customer.co.uk', 'reseller-customer', 'co.uk'],
])('registers %s as %s', async (domain, name, sld, tld) => {
  const service = await startService();
  const { body } = await service.call('registerDomain', { form: { domain, handle: await handleOf(service) } });
  expect(body.data.domain).toMatchObject({ name, sld, tld });
  for (const written of [domain, name, name.toUpperCase()]) {
    expect((await service.call('getDomain', { path: { domain: written } })).body.data.domain.name).toBe(name);
  }
  expect((await service.call('listDomains')).body.data.list).toEqual([name]);
});

test('returns the status OK when the lock has ended', async () => {
  const service = await startService();
  await service.call('registerDomain', { form: { domain: 'reseller-customer.net', handle: await handleOf(service) } });
  service.clock.advanceTo('2027-01-09T12:03:17Z');
  const { body } = await service.call('getDomain', { path: { domain: 'reseller-customer.net' } });
  expect(body.data.domain.status).toBe('OK');
});

test('does not store the auth code of a transfer', async () => {
  const service = await startService();
  const form = { domain: 'reseller-customer.net', handle: await handleOf(service), authcode: 'example-authcode-1' };
  await service.call('registerDomain', { form, idempotencyKey: 'one' });
  expect(await tablesWith(service.store, 'example-authcode-1')).toEqual([]);
});
