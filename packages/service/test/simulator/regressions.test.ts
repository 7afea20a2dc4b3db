/** Regression tests for the defects that the simulator has found. */
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';

import { createAccount, createService, euros, issueApiKey, simulatedPorts, StoreUnavailableError } from '../../src/index.ts';
import type { Store } from '../../src/index.ts';
import { handleOf, pauseRegistrar, untilReserved } from '../domains.ts';
import { openStore } from '../engines.ts';
import { SECRET, startService } from '../harness.ts';
import { TestClock } from '../ports/clock.ts';
import { TestHypervisor } from '../ports/hypervisor.ts';
import { seededPlace } from '../prepared-store.ts';

test('a registration that fails after the end of its month is not on an invoice', async () => {
  const service = await startService();
  const handle = await handleOf(service);
  const resume = pauseRegistrar(service);
  const registration = service.call('registerDomain', { form: { domain: 'reseller-customer.net', handle } });
  await untilReserved(service);
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  await service.runScheduledJobs();
  service.registrar.failing = new Error('The registrar is unavailable.');
  resume();

  expect((await registration).status).toBe(503);
  expect((await service.call('listInvoices')).body.data).toEqual({});
});

test('a VM exists if the connection to the store fails just after the commit of its purchase', async () => {
  const store = await openStore('sqlite', await seededPlace('sqlite'));
  onTestFinished(() => store.close());
  const hypervisor = new TestHypervisor();
  const ports = simulatedPorts({ clock: new TestClock(), hypervisor });
  const apiKey = await store.commit(async ({ db }) => {
    const id = await createAccount(db, ports, { name: 'test', creditLimit: euros('100.00') });
    return issueApiKey(db, ports, id, { label: 'test', mode: 'sandbox' });
  });
  let isCut = false;
  const cut: Store = {
    ...store,
    async commit(work) {
      const result = await store.commit(work);
      if (hypervisor.vms.size === 0 || isCut) return result;
      isCut = true;
      throw new StoreUnavailableError('The connection failed after the commit.');
    },
  };
  const { app } = await createService({ store: cut, ports, secret: SECRET, logger: pino({ level: 'silent' }) });
  onTestFinished(() => app.close());
  const { statusCode } = await app.inject({
    method: 'PUT',
    url: '/vm/create',
    headers: { 'x-service-apikey': apiKey, 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'cores=2&mem=4096&disk=40&os=debian_12&hostsystem=nl_ryzen',
  });
  if (statusCode !== 503) throw new Error(`The status of the response is ${statusCode}, not 503.`);

  const billed = await store.read((db) => db.selectFrom('vms').select('id').where('state', '=', 'running').execute());
  expect(billed).toHaveLength(1);
  expect([...hypervisor.vms.keys()]).toEqual(billed.map(({ id }) => id));
});
