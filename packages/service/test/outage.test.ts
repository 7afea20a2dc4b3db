/** A system of the infrastructure is away: requests that certainly changed nothing are 503, and count for that system. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { describe, expect, test } from 'vitest';

import { freePort } from '../../../.config/free-ports.ts';
import { wasNotSent } from '../src/ports/outage.ts';
import { footprint, handleOf, register } from './domains.ts';
import { SMALL_VM } from './harness.ts';
import type { Received } from './http-client.ts';
import { startOperator } from './operator.ts';
import type { TestOperator } from './operator.ts';
import { TestDns } from './ports/dns.ts';
import { TestHypervisor } from './ports/hypervisor.ts';
import { aroundPort } from './ports/port-calls.ts';
import { GOOD_AUTHCODE, TestRegistrar } from './ports/registrar.ts';
import { Standstill } from './ports/standstill.ts';

const DOMAIN = 'away-system.net';
const CANCELLED = 'cancelled-domain.net';

/** Adapters that send each call over HTTP to a system which refuses connections while it is away, or responds with an error. */
class Away {
  isAway = false;
  failsWith: Error | undefined;
  url = '';

  around<Port extends object>(port: Port): Port {
    return aroundPort(port, async (_, work) => {
      if (this.isAway) await fetch(this.url);
      if (this.failsWith) throw this.failsWith;
      return work();
    });
  }
}

interface Outage extends TestOperator {
  readonly away: Away;
  readonly vmId: number;
  readonly handle: string;
}

async function startWithOutage(): Promise<Outage> {
  const away = new Away();
  away.url = `http://127.0.0.1:${await freePort()}`;
  const service = await startOperator({
    hypervisor: away.around(new TestHypervisor()),
    registrar: away.around(new TestRegistrar()),
    dns: away.around(new TestDns()),
  });
  const { body } = await service.call('createVm', { form: SMALL_VM });
  await register(service, DOMAIN);
  await service.runScheduledJobs();
  return { ...service, away, vmId: body.data.identifier, handle: await handleOf(service) };
}

/** The value of the counter of 503. */
async function unavailable(service: TestOperator, system: string): Promise<number> {
  const { text } = await service.operate('/metrics');
  const series = `reseller_unavailable_total{api="reseller",cause="infrastructure",system="${system}"} `;
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(series))
      ?.slice(series.length) ?? 0,
  );
}

/** A request that fails, because a system does. */
interface Failing {
  readonly what: string;
  readonly system: 'hypervisor' | 'registrar' | 'dns';
  /** The advice about sending it again. Default: that for a request that has reserved something. */
  readonly again?: string;
  send(service: Outage): Promise<Received>;
}

const ONCE_IT_IS_BACK = 'What was reserved for it is free again when the service reaches the system. Send the request again later.';
const AFTER_A_WAIT = 'Wait the number of seconds in Retry-After, then send the request again.';

const RESERVING_NOTHING: readonly Failing[] = [
  {
    what: 'a look-up',
    system: 'registrar',
    again: AFTER_A_WAIT,
    send: (service) => service.call('checkDomain', { path: { domain: 'another.net' } }),
  },
  {
    what: 'DNSSEC',
    system: 'dns',
    again: AFTER_A_WAIT,
    send: (service) => service.call('enableDomainDnssec', { path: { domain: DOMAIN } }),
  },
];

const path = ({ vmId }: Outage) => ({ vmid: String(vmId) });

describe.each<Failing>([
  {
    what: 'a purchase',
    system: 'hypervisor',
    send: (service) => service.call('createVm', { form: SMALL_VM, idempotencyKey: 'one' }),
  },
  {
    what: 'a restart',
    system: 'hypervisor',
    send: (service) => service.call('setVmPower', { path: path(service), form: { mode: 'restart' } }),
  },
  { what: 'a backup', system: 'hypervisor', send: (service) => service.call('createVmBackup', { path: path(service) }) },
  { what: 'a new password', system: 'hypervisor', send: (service) => service.call('resetVmPassword', { path: path(service) }) },
  {
    what: 'the registration of a domain',
    system: 'registrar',
    send: (service) => service.call('registerDomain', { form: { domain: 'another.net', handle: service.handle } }),
  },
  ...RESERVING_NOTHING,
])('$what while the $system refuses connections', ({ system, again = ONCE_IT_IS_BACK, send }) => {
  test('is 503 with Retry-After, counts for that system, and succeeds when it is back', async () => {
    const service = await startWithOutage();
    const before = await footprint(service);
    service.away.isAway = true;
    const { status, headers, body } = await send(service);
    expect([status, body.type, headers.get('retry-after')]).toEqual([503, 'unavailable', '2']);
    expect(body.message).toBe(`The ${system === 'dns' ? 'DNS server' : system} cannot be reached, so nothing was changed. ${again}`);
    expect(await unavailable(service, system)).toBe(1);
    service.away.isAway = false;
    await service.runScheduledJobs();
    expect(await footprint(service)).toEqual(before);
    expect((await send(service)).status).toBe(200);
  });
});

describe.each<Failing>([
  { what: 'a purchase', system: 'hypervisor', send: (service) => service.call('createVm', { form: SMALL_VM }) },
  { what: 'a backup', system: 'hypervisor', send: (service) => service.call('createVmBackup', { path: path(service) }) },
  {
    what: 'the registration of a domain',
    system: 'registrar',
    send: (service) => service.call('registerDomain', { form: { domain: 'another.net', handle: service.handle } }),
  },
  {
    what: 'the transfer of a domain',
    system: 'registrar',
    send: (service: Outage) =>
      service.call('registerDomain', { form: { domain: 'another.net', handle: service.handle, authcode: GOOD_AUTHCODE } }),
  },
  {
    what: 'a transfer lock',
    system: 'registrar',
    send: (service) => service.call('setDomainTransferLock', { path: { domain: DOMAIN }, form: { transfer_lock: true } }),
  },
  {
    what: 'another handle',
    system: 'registrar',
    send: (service) => service.call('setDomainHandle', { path: { domain: DOMAIN }, form: { handle: service.handle } }),
  },
  {
    what: 'a withdrawn cancellation',
    system: 'registrar',
    send: (service) => service.call('undeleteDomain', { path: { domain: CANCELLED } }),
  },
  ...RESERVING_NOTHING,
])('$what while the $system responds with an error', ({ system, again = ONCE_IT_IS_BACK, send }) => {
  test('is 503 with Retry-After, is undone, and succeeds when the system works again', async () => {
    const service = await startWithOutage();
    await register(service, CANCELLED);
    await service.call('deleteDomain', { path: { domain: CANCELLED } });
    await service.runScheduledJobs();
    const before = await footprint(service);
    service.away.failsWith = new Error('HTTP 502');
    const { status, headers, body } = await send(service);
    expect([status, body.type, headers.get('retry-after')]).toEqual([503, 'unavailable', '2']);
    expect(body.message).toMatch(
      new RegExp(
        `^The ${system === 'dns' ? 'DNS server' : system} failed, so (nothing was changed|the change is undone, and nothing of it is billed)\\. ${again}$`,
      ),
    );
    expect(await unavailable(service, system)).toBe(1);
    service.away.failsWith = undefined;
    await service.runScheduledJobs();
    expect(await footprint(service)).toEqual(before);
    expect((await send(service)).status).toBe(200);
  });
});

test('while a failed registration is being undone, the same domain is not called registered', async () => {
  const service = await startWithOutage();
  const { apiKey } = await service.account();
  const attempts = [
    { form: { domain: 'another.net', handle: service.handle } },
    { form: { domain: 'another.net', handle: await handleOf(service, { apiKey }), authcode: GOOD_AUTHCODE }, apiKey },
  ];
  service.away.failsWith = new Error('HTTP 502');
  expect((await service.call('registerDomain', attempts[0])).status).toBe(503);
  for (const attempt of attempts) {
    const { status, body } = await service.call('registerDomain', attempt);
    expect([status, body.message]).toEqual([
      409,
      'A registration of another.net has not ended: it is in progress, or it has failed and is being undone. Wait a few seconds, then send this request again.',
    ]);
  }
  service.away.failsWith = undefined;
  await service.runScheduledJobs();
  expect((await service.call('registerDomain', attempts[0])).status).toBe(200);
});

test('a purchase without a response is undone, so it is 503; a restart without one is 500, because the VM may have restarted', async () => {
  const still = new Standstill();
  const service = await startOperator({ hypervisor: still.around(new TestHypervisor()), portTimeout: 300 });
  const { body } = await service.call('createVm', { form: SMALL_VM });
  still.holds = 'after';
  const bought = await service.call('createVm', { form: SMALL_VM });
  expect([bought.status, bought.headers.get('retry-after')]).toEqual([503, '2']);
  expect(bought.body.message).toContain('The hypervisor did not respond in time, so the change is undone, and nothing of it is billed.');
  const restart = await service.call('setVmPower', { path: { vmid: String(body.data.identifier) }, form: { mode: 'restart' } });
  expect(restart.status).toBe(500);
  expect(await unavailable(service, 'hypervisor')).toBe(2);
  still.release();
});

describe('wasNotSent', () => {
  async function failureOf(work: Promise<unknown>): Promise<unknown> {
    return work.then(
      () => expect.fail('It succeeded.'),
      (error: unknown) => error,
    );
  }

  test('is true if the connection was refused, the name was not found, or the socket does not exist', async () => {
    const port = await freePort();
    for (const failure of [
      await failureOf(fetch(`http://127.0.0.1:${port}`)),
      await failureOf(fetch(`http://localhost:${port}`)),
      await failureOf(fetch('http://no-such-host.invalid')),
      await failureOf(once(connect('/no/such/socket'), 'connect')),
      Object.assign(new Error('Connect Timeout Error'), { code: 'UND_ERR_CONNECT_TIMEOUT' }),
    ])
      expect(wasNotSent(failure)).toBe(true);
  });

  test('is false if the connection was open, and for any other failure', async () => {
    const server = createServer((socket) => void socket.once('data', () => socket.destroy())).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port }: Partial<AddressInfo> = Object(server.address());
    const cut = await failureOf(fetch(`http://127.0.0.1:${port}`));
    server.close();
    const refused = await failureOf(fetch(`http://127.0.0.1:${await freePort()}`));
    for (const failure of [
      cut,
      new Error('connect ECONNREFUSED'),
      new AggregateError([]),
      new AggregateError([refused, cut]),
      'refused',
      undefined,
    ])
      expect(wasNotSent(failure)).toBe(false);
  });
});

test('a 500 for an error of an adapter counts for its system, and a 500 of the service for none', async () => {
  const hypervisor = new TestHypervisor();
  const service = await startOperator({ hypervisor });
  const { body } = await service.call('createVm', { form: SMALL_VM });
  const restart = () => service.call('setVmPower', { path: { vmid: String(body.data.identifier) }, form: { mode: 'restart' } });
  hypervisor.failing = new Error('the node has no such machine');
  expect((await restart()).status).toBe(500);
  expect(await unavailable(service, 'hypervisor')).toBe(1);
  hypervisor.failing = undefined;
  await service.runScheduledJobs();
  await service.store.commit(({ db }) => db.schema.alterTable('vms').renameTo('gone').execute());
  expect((await restart()).status).toBe(500);
  expect(await unavailable(service, 'hypervisor')).toBe(1);
  const { text } = await service.operate('/metrics');
  const counted = text.match(/^reseller_request_duration_seconds_count\{.*status="500".*\} \d+$/gm);
  expect(counted).toEqual([
    'reseller_request_duration_seconds_count{operation="setVmPower",status="500",system="hypervisor"} 1',
    'reseller_request_duration_seconds_count{operation="setVmPower",status="500"} 1',
  ]);
});
