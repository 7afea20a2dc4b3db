/**
 * PostgreSQL takes less than SQLite does: a NUL byte or a lone surrogate in any text, an integer
 * beyond its type. What reaches it must have been refused before, or it is a 500.
 */
import { fillPath, writeForm } from '@reseller/contract';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';

import { createAccount, createService, euros, issueApiKey, systemRandom } from '../src/index.ts';
import type { OperationId } from '../src/reseller/operation.ts';
import { PERSON, PHONE } from './domains.ts';
import { openStore } from './engines.ts';
import { TestFleet } from './ports/fleet.ts';
import { formRules } from './form-rules.ts';
import { SECRET, SMALL_VM } from './harness.ts';
import { TestHypervisor } from './ports/hypervisor.ts';
import { TestClock } from './ports/clock.ts';
import { NEVER } from './hostile-texts.ts';
import { apiOf, withForm, withPath } from './operations.ts';
import { seededPlace } from './prepared-store.ts';
import { TestRegistrar } from './ports/registrar.ts';

type Send = (id: OperationId, path: Readonly<Record<string, string>>, body?: string) => Promise<{ status: number; body: string }>;

test('hostile values in every field and every path parameter give no 5xx on PostgreSQL', async () => {
  const send = await serviceOnPostgres();
  const { data: vm } = JSON.parse((await send('createVm', {}, writeForm(apiOf('createVm').operation, SMALL_VM))).body);
  const { data: handle } = JSON.parse(
    (await send('createHandle', {}, writeForm(apiOf('createHandle').operation, { ...PERSON, phone: PHONE }))).body,
  );
  const domain = { domain: 'reseller-customer.net', handle: handle.handle };
  expect((await send('registerDomain', {}, writeForm(apiOf('registerDomain').operation, domain))).status).toBe(200);
  const path = { vmid: String(vm.identifier), domain: domain.domain };
  const good: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    createVm: { ...SMALL_VM, ssh_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBKJYnCjhCwOsLjSbGdh6VfHpe0vJCkhDKLgHpVxkmVv' },
    registerDomain: domain,
    setDomainNameservers: { ns1: 'default', ns2: 'default', ns3: 'default', ns4: 'default' },
    editDomainDns: { type: 'TXT', data: 'text' },
    createHandle: { ...PERSON, phone: PHONE },
  };
  const texts = [
    ...NEVER.map(([, raw]) => raw),
    '9'.repeat(19),
    '9'.repeat(60),
    '-9223372036854775808',
    '1e308',
    '%F0%9F%92%A5',
    "'%3B+--",
  ];
  for (const id of withForm) {
    for (const field of formRules(id).fields.keys()) {
      const rest = writeForm(apiOf(id).operation, { ...good[id], [field]: undefined });
      const answers = await Promise.all(texts.map(async (raw) => ({ raw, ...(await send(id, path, `${rest}&${field}=${raw}`)) })));
      const failed = answers.filter(({ status }) => status >= 500);
      expect.soft(failed.map(({ raw, body }) => `${raw.slice(0, 50)} in ${field} of ${id}: ${body}`)).toEqual([]);
    }
  }
  for (const id of withPath) {
    const named = (raw: string) => ({ vmid: raw, identifier: raw, domain: raw, handle: raw, invoiceID: raw });
    const statuses = await Promise.all(texts.map(async (raw) => `${raw.slice(0, 50)}: ${(await send(id, named(raw))).status}`));
    expect
      .soft(
        statuses.filter((text) => !/: 4\d\d$/.test(text)),
        id,
      )
      .toEqual([]);
  }
});

/** A service on a database of its own. */
async function serviceOnPostgres(): Promise<Send> {
  const store = await openStore('postgres', await seededPlace('postgres'));
  onTestFinished(() => store.close());
  const ports = {
    clock: new TestClock(),
    random: systemRandom,
    hypervisor: new TestHypervisor(),
    fleet: new TestFleet(),
    registrar: new TestRegistrar(),
  };
  const { app, close } = await createService({ store, ports, secret: SECRET, logger: pino({ level: 'silent' }) });
  onTestFinished(close);
  const apiKey = await store.commit(async ({ db }) => {
    const id = await createAccount(db, ports, { name: 'test', creditLimit: euros('90000.00') });
    return issueApiKey(db, ports, id, { label: 'test', mode: 'sandbox' });
  });
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  return async (id, path, body) => {
    const { method, path: template } = apiOf(id).operation;
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await fetch(baseUrl + fillPath(template, path), {
      method,
      headers: { 'x-service-apikey': apiKey, ...(body !== undefined && type) },
      ...(body !== undefined && { body }),
    });
    return { status: answer.status, body: await answer.text() };
  };
}
