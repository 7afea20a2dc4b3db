/**
 * A provider's day and a developer's day in Chromium, by task list. Each task is done by the names on the screen, without an address, an
 * identifier or a text that the person would have to look up elsewhere. The run prints the clicks, fields and seconds of each.
 */
import { text as readText } from 'node:stream/consumers';

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { launchBrowser, noBrowser } from '../../../.config/browser.ts';
import { isDeep } from '../../../.config/depth.ts';
import { operations } from '../src/document/operations.data.ts';
import { call, consoleLink, openContext, operate, runPrintedPurchase, startRestartable } from './browser.ts';
import type { Restartable, Watched } from './browser.ts';
import { createPerson, tableOf } from './person.ts';
import type { Person } from './person.ts';

const DEMO = 'Demo reseller';
const CUSTOMER = 'Nordlicht Hosting';
const VM = { cores: '2', mem: '4096', disk: '40', os: 'debian_12', hostsystem: 'nl_ryzen' };

let sandbox: Restartable;
let browser: Browser;

beforeAll(async () => {
  if (noBrowser !== undefined || !isDeep) return;
  [sandbox, browser] = await Promise.all([startRestartable(), launchBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await sandbox?.remove();
});

/** A signed-in person. A sandbox prints a new link each time that it starts. */
async function arrive(): Promise<Watched & { readonly person: Person }> {
  const watched = await openContext(browser);
  await watched.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await watched.page.goto(consoleLink(sandbox.current()));
  await watched.page.getByRole('heading', { name: 'Requests' }).waitFor();
  return { ...watched, person: createPerson(watched.page) };
}

function report(title: string, { efforts }: Person): void {
  process.stdout.write(`\n${title}\n${tableOf(efforts)}`);
  expect(efforts.flatMap(({ task, lookedUp }) => lookedUp.map((text) => `${task}: ${text}`))).toEqual([]);
}

describe.skipIf(noBrowser !== undefined)('everything is on the screen', () => {
  test("in a provider's day", { tags: 'deep' }, async () => {
    const { page, person, context, faults } = await arrive();
    const { does, click, chooseAction, type, choose, check, goTo, reads, row, dialog } = person;
    const submit = (id: keyof typeof operations) => click('button', operations[id].summary, dialog());
    const done = (id: keyof typeof operations) => reads(`Done: ${operations[id].summary}`);
    const api = () => sandbox.current();
    const accountOf = async (name: string) => {
      const { items } = await operate(api(), 'GET /accounts?limit=200');
      return items.find((account: { readonly name: string }) => account.name === name);
    };
    await call(api(), 'PUT /vm/create', { ...VM, os: 'beos' });
    const { identifier } = await runPrintedPurchase(api());

    await does('See which requests failed, and why', [], async () => {
      await choose('Which requests', 'Failed');
      await click('link', /vm\/create/);
      await reads(/beos/);
      await reads(/"message": "/);
    });

    await does('Take in a customer with 500 EUR of credit, and give out a first key', [CUSTOMER, '500.00', 'Shop'], async () => {
      await click('link', 'Accounts');
      await click('button', 'New account');
      await type('Name', CUSTOMER);
      await type('Credit limit', '500.00');
      await submit('createAccount');
      await click('link', `Open ${CUSTOMER}`);
      await click('button', 'Issue a key');
      await type('Label', 'Shop');
      await submit('issueApiKey');
      await click('button', 'Copy the secret');
      await click('button', 'Close');
    });
    const key = await page.evaluate(() => navigator.clipboard.readText());
    expect(await call({ ...api(), apiKey: key }, 'GET /vm/list/hosts')).toMatchObject({ status: 'success' });

    const address = { Company: 'Nordlicht GmbH', Street: 'Hafenstraße 1', 'Postal code': '20095', City: 'Hamburg', Country: 'DE' };
    await does('Enter the billing address of the customer', Object.values(address), async () => {
      await click('button', 'Edit');
      for (const [label, text] of Object.entries(address)) await type(label, text);
      await submit('setBillingProfile');
      await reads('20095 Hamburg');
    });

    await does('Order a dedicated server for the customer', [CUSTOMER], async () => {
      await click('link', 'Servers');
      await chooseAction('Xeon E-2388G', 'Order');
      await choose('Account', CUSTOMER);
      await submit('orderDedicatedServer');
      await done('orderDedicatedServer');
    });

    const access = {
      Dashboard: 'https://ipmi.example/7',
      Username: 'root',
      Email: 'admin@nordlicht.example',
      Password: 'Einmal-42',
      Address: '198.51.100.77',
      Gateway: '198.51.100.1',
    };
    await does('Hand the server over, when the data centre has set it up', Object.values(access), async () => {
      await chooseAction(CUSTOMER, operations.completeDedicatedSetup.summary);
      for (const [label, text] of Object.entries(access)) await type(label, text);
      await submit('completeDedicatedSetup');
      await expect.poll(() => row(CUSTOMER).getByText('running').count()).toBe(1);
    });

    await does('Record that an invoice was paid', ['INV-00001'], async () => {
      await click('link', 'Invoices');
      await chooseAction('INV-00001', operations.recordPayment.summary);
      await submit('recordPayment');
      await row('INV-00001').getByText('PAID').waitFor();
    });

    await does('Give 1 EUR of it back for an outage', ['1.00', 'Outage on Monday'], async () => {
      await chooseAction('INV-00001', operations.createCreditNote.summary);
      await type('Amount', '1.00');
      await type('Reason', 'Outage on Monday');
      await submit('createCreditNote');
      await click('link', /^Open /);
      await row('Outage on Monday').waitFor();
    });

    await does('Raise the credit limit of an account', [DEMO, '2500.00'], async () => {
      await click('link', 'Accounts');
      await chooseAction(DEMO, operations.setCreditLimit.summary);
      await type('Credit limit', '2500.00');
      await submit('setCreditLimit');
      await expect.poll(async () => (await accountOf(DEMO)).credit_limit).toBe('2500.00');
    });

    await does('See what a larger VM costs, and resize it', ['8', '16 GB'], async () => {
      await click('link', 'VMs');
      await chooseAction(String(identifier), operations.resizeVm.summary);
      const before = await quoted();
      await type('Cores', '8');
      await type('Memory', '16 GB');
      await expect.poll(quoted).toBeGreaterThan(before);
      const price = await quoted();
      await submit('resizeVm');
      await row(String(identifier)).getByText('8 cores, 16 GB').waitFor();
      const { monthly_price: billed } = await operate(api(), `GET /vms/${identifier}`);
      expect(Number(billed)).toBe(price);
    });

    const sale = { 'Start date': '2030-01-31T23:59:59', 'Stop date': '2030-02-28T12:00:01' };
    await does('Sell one VM at a lower price, from a second on', ['Winter', '1', '1.10', ...Object.values(sale)], async () => {
      await click('link', 'Catalogue');
      await click('button', operations.createSale.summary);
      await type('Title', 'Winter');
      for (const [label, instant] of Object.entries(sale)) await type(label, instant);
      await type('Max volume', '1');
      const prices = dialog().getByRole('group', { name: 'Pricing 1' });
      await choose('Name', 'Netherlands, AMD Ryzen (nl_ryzen)');
      await type(/^Core/, '1.10', prices);
      await submit('createSale');
      await row('Winter').getByText('0 of 1').waitFor();
      await row('Winter').getByText('2030-01-31 23:59:59').waitFor();
    });

    await does('Raise the prices of a TLD from a date on', ['12.90', '2030-01-01T00:00'], async () => {
      await chooseAction('.net', operations.scheduleTldPrices.summary);
      await type('Create', '12.90');
      await type(/^Valid from/, '2030-01-01T00:00');
      await submit('scheduleTldPrices');
      await done('scheduleTldPrices');
    });

    await does('Enter a new rate of VAT', ['19.5 %', '2030-01-01'], async () => {
      await click('link', 'Settings');
      await click('button', 'Change', row('VAT rates'));
      await click('button', 'Add another');
      await type('Rate', '19.5 %');
      await type('Valid from', '2030-01-01');
      await submit('setVatRates');
      await reads('19.5 % from 2030-01-01');
    });

    await does('Add a node to a host system', ['nl-ryzen-09', '64', '256 GB', '4000', '0'], async () => {
      await click('link', 'Nodes');
      await click('button', /^Actions for .*Ryzen/);
      await click('menuitem', operations.defineHostSystem.summary);
      await click('button', 'Add another', dialog().getByRole('group', { name: 'Nodes' }));
      const node = dialog()
        .getByRole('group', { name: /^Node \d/ })
        .last();
      await type('Name', 'nl-ryzen-09', node);
      await type('Cores', '64', node);
      await type('Memory', '256 GB', node);
      await type('Disk', '4000', node);
      await type('Storage', '0', node);
      await submit('defineHostSystem');
      await row('nl-ryzen-09').waitFor();
    });

    const { data } = await call({ ...api(), apiKey: key }, 'POST /account/otp');
    await does('Check the code that a customer reads out on the telephone', [CUSTOMER, String(data.otp_code)], async () => {
      await click('link', 'Access');
      await click('button', operations.verifyOtp.summary);
      await type('Code', String(data.otp_code));
      await choose(/^Account/, CUSTOMER);
      await submit('verifyOtp');
      await reads('The code is valid.');
      await click('button', 'Close');
    });

    await does('Give a colleague a token', ['Support, late shift', 'read', 'support'], async () => {
      await click('button', operations.createOperatorToken.summary);
      await type('Name', 'Support, late shift');
      await check('read');
      await check('support');
      await submit('createOperatorToken');
      await click('button', 'Copy the secret');
      await click('button', 'Close');
      await reads('read, support');
    });

    await does('Suspend an account that does not pay, and end it', [CUSTOMER, 'Two invoices are overdue'], async () => {
      await click('link', 'Accounts');
      await chooseAction(CUSTOMER, operations.suspendAccount.summary);
      await type('Reason', 'Two invoices are overdue');
      await submit('suspendAccount');
      await row(CUSTOMER).getByText('suspended').waitFor();
      await chooseAction(CUSTOMER, operations.unsuspendAccount.summary);
      await submit('unsuspendAccount');
      await row(CUSTOMER).getByText('active').waitFor();
    });

    await does('Find whose address is abused', [access.Address], async () => {
      await goTo(access.Address);
      await page.getByRole('heading', { name: CUSTOMER }).waitFor();
    });

    await does('Stop the VM that is abused', [String(identifier)], async () => {
      await goTo(String(identifier));
      await click('button', `Actions for VM ${identifier}`);
      await click('menuitem', operations.stopVm.summary);
      await submit('stopVm');
      await reads('stopped');
    });

    await does('Take the invoices of the month to the accounting', [], async () => {
      await click('link', 'Clock');
      await click('button', 'To the end of the month');
      await reads(/^Done\. \d/);
      await click('link', 'Invoices');
      const [download] = await Promise.all([page.waitForEvent('download'), click('link', 'Export CSV')]);
      expect(await readText(await download.createReadStream())).toContain('INV-00002,');
    });

    await does('See who changed the rate of VAT', ['VAT'], async () => {
      await click('link', 'Audit');
      await type('Filter: Audit', 'VAT');
      await click('button', operations.setVatRates.summary);
      await reads('1950');
    });

    report("A provider's day", person);
    expect(faults).toEqual([]);
    await context.close();

    async function quoted(): Promise<number> {
      const price = dialog().getByRole('region', { name: 'Price', exact: true });
      await price.waitFor();
      return Number(await price.locator('.money').first().textContent());
    }
  });

  test("in a developer's day", { tags: 'deep' }, async () => {
    await operate(sandbox.current(), 'POST /sandbox/reset');
    await sandbox.stop();
    await sandbox.start();
    const { page, person, context, faults } = await arrive();
    const { does, click, chooseAction, type, correct, choose, goTo, reads, row, dialog } = person;
    const api = () => sandbox.current();
    const submit = (id: keyof typeof operations) => click('button', operations[id].summary, dialog());

    await does('See a purchase arrive, what it costs and where it is billed', [], async () => {
      await click('link', 'Requests', page.getByRole('navigation'));
      const { identifier } = await runPrintedPurchase(api());
      await click('link', /vm\/create$/);
      await reads(`${identifier} for 10.40 EUR net for 30 days`.slice(6));
      await click('link', 'the current invoice');
      await row(String(identifier)).getByRole('cell', { name: 'CREATE', exact: true }).waitFor();
    });

    await does('See why a request was refused, and send it again without the mistake', [VM.os], async () => {
      await call(api(), 'PUT /vm/create', { ...VM, os: 'beos' });
      await click('link', 'Requests', page.getByRole('navigation'));
      await click('link', /vm\/create$/, row('failed').or(row('beos')).or(row('refused')).or(row('unprocessable')));
      await reads(/beos/);
      await click('button', 'Replay');
      await click('button', 'Issue a key for an hour');
      await click('button', /^Send PUT/);
      await reads(/HTTP 4\d\d/);
      await correct(/^Parameters/, 'beos', VM.os);
      await click('button', /^Send PUT/);
      await reads('HTTP 200');
    });

    const headers = { 'X-SERVICE-APIKEY': api().apiKey, 'Idempotency-Key': 'order-4711' };
    const order = async () => {
      const body = new URLSearchParams({ ...VM, hostname: 'shop' });
      return (await fetch(`${api().baseUrl}/vm/create`, { method: 'PUT', headers, body })).json();
    };
    const { requestID } = await order();
    await order();

    await does('Find a request by the identifier in a log', [requestID], async () => {
      await goTo(requestID);
      await click('link', /vm\/create$/);
      await reads('order-4711');
    });

    await does('See whether the program bought twice', [], async () => {
      await click('link', 'All requests with it');
      await expect.poll(() => row('/vm/create').count()).toBe(2);
      await click('link', /vm\/create$/, row('/vm/create').first());
      await reads('repeated: the response is that of the first request');
    });

    await does('Copy the request as TypeScript', [], async () => {
      await click('button', 'Copy as TypeScript');
      expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('vm.create');
    });

    await does('Find the VM that a log names, and its price', [requestID], async () => {
      await click('link', /vm\/create$/, row('succeeded'));
      await click('link', /^\d{5}$/, page.getByRole('complementary', { name: 'Request' }));
      await reads('Net, 30 days (EUR)');
      await reads('10.40');
    });

    await does('See the DNS record that a program set', ['reseller-customer.net'], async () => {
      await call(api(), 'PUT /domain/reseller-customer.net/dns/add', { type: 'TXT', sub: 'probe', data: 'it works', ttl: '3600' });
      await goTo('reseller-customer.net');
      await row('it works').waitFor();
    });

    await does('Let the next request fail, to test a retry', [], async () => {
      await call(api(), 'GET /domain/list');
      await click('link', 'Requests', page.getByRole('navigation'));
      await click('link', /domain\/list$/);
      await click('button', 'Let it fail');
      await choose('Kind', 'Error');
      await choose('Status', '503');
      await submit('createFault');
      await reads(`Done: ${operations.createFault.summary}`);
      expect(await call(api(), 'GET /domain/list')).toMatchObject({ status: 'error' });
      expect(await call(api(), 'GET /domain/list')).toMatchObject({ status: 'success' });
    });

    await does('Get an account for the tests of a pipeline', ['Pipeline'], async () => {
      await click('link', 'Accounts');
      await click('button', 'New isolated account');
      await type('Name', 'Pipeline');
      await submit('createIsolatedAccount');
      await click('button', 'Copy the secret');
      await click('button', 'Close');
      const key = await page.evaluate(() => navigator.clipboard.readText());
      expect(await call({ ...api(), apiKey: key }, 'GET /vm/list/hosts')).toMatchObject({ status: 'success' });
    });

    await does('See what the month will cost', [], async () => {
      await click('link', DEMO);
      await reads('Estimate, net (EUR)');
    });

    await does('Let the month end, read the invoice, and go back', ['before the end'.replaceAll(' ', '-')], async () => {
      await click('link', 'Clock');
      await click('button', operations.createSnapshot.summary);
      await type('Snapshot', 'before-the-end');
      await submit('createSnapshot');
      await click('button', 'To the end of the month');
      await reads(/^Done\. \d/);
      await click('link', 'Invoices');
      await click('link', 'INV-00002');
      await page.getByRole('table', { name: 'Virtual servers' }).waitFor();
      await click('link', 'Clock');
      await chooseAction('before-the-end', operations.restoreSnapshot.summary);
      await submit('restoreSnapshot');
      await reads(`Done: ${operations.restoreSnapshot.summary}`);
    });

    report("A developer's day", person);
    expect(faults).toEqual([]);
    await context.close();
  });
});
