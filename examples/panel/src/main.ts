/** The panel as a command, which a billing system calls: `node src/main.ts create 4711 small`. */
import { readFileSync } from 'node:fs';

import { createReseller } from '@reseller/client/extension';
import type { CreateHandleForm } from '@reseller/client/extension';

import * as area from './client-area.ts';
import * as domains from './domains.ts';
import { openOrders } from './orders.ts';
import type { Panel } from './purchase.ts';
import * as servers from './servers.ts';

/** @returns The text that the command prints. */
type Run = (panel: Panel, ...given: string[]) => Promise<string>;

/** By their words and arguments. An argument in brackets may be omitted. */
const COMMANDS: Readonly<Record<string, Run>> = {
  'create <service> <package> [public-key-file]': async (panel, id = '', name = '', file) => {
    const setup = file === undefined ? {} : { ssh_key: readFileSync(file, 'utf8').trim() };
    const { vmid, address, username, password = 'request a new one' } = await servers.createServer(panel, id, name, setup);
    return `VM ${vmid} at ${address}, user ${username}, password: ${password}`;
  },
  'suspend <service>': async (panel, id = '') => {
    await servers.suspend(panel, id);
    return `Service ${id} is suspended.`;
  },
  'unsuspend <service>': async (panel, id = '') => {
    await servers.unsuspend(panel, id);
    return `Service ${id} is active.`;
  },
  'change-cost <service> <package>': async (panel, id = '', name = '') => {
    const { net, gross } = await servers.changeCost(panel, id, name);
    return `Service ${id} with the package ${name} would cost ${net} EUR net, ${gross} EUR gross for 30 days.`;
  },
  'change-package <service> <package>': async (panel, id = '', name = '') => {
    await servers.changePackage(panel, id, name);
    return `Service ${id} has the package ${name}.`;
  },
  'terminate <service>': async (panel, id = '') => {
    await servers.terminate(panel, id);
    return `Service ${id} is terminated.`;
  },
  'client-area <service>': async (panel, id = '') => {
    const { package: name, state, vm } = await servers.serverArea(panel, id);
    return `${name}, ${state}${vm ? `: ${vm.hostname} at ${vm.addresses.join(', ')} is ${vm.status}` : ''}`;
  },
  'new-password <service>': async (panel, id = '') => `The new password is ${await servers.newPassword(panel, id)}`,
  'rename <service> <hostname>': async (panel, id = '', hostname = '') => {
    await servers.rename(panel, id, hostname);
    return `Service ${id} is ${hostname}.`;
  },
  'reverse-name <service> <name> [address]': async (panel, id = '', name = '', address) =>
    lines(await area.setReverseName(panel, id, name, address), (one) => `${one.ip_address} ${one.domain ?? 'has no name'}`),
  'back-up <service> [description]': async (panel, id = '', description = '') => {
    const { backup_id, status } = await area.backUp(panel, id, description);
    return `Backup ${backup_id} is ${status}.`;
  },
  'backups <service>': async (panel, id = '') =>
    lines(await area.backups(panel, id), (one) => `${one.backup_id} ${one.created} ${one.status} ${one.description}`),
  'restore <service> <backup>': async (panel, id = '', backup = '') => {
    await area.restore(panel, id, backup);
    return `Service ${id} has the disk of the backup ${backup}.`;
  },
  'usage <service>': async (panel, id = '') => {
    const { cpu, memory, disk, traffic, includedTraffic } = await area.usage(panel, id);
    return `CPU ${cpu ?? '?'} %, memory ${memory ?? '?'} MB, disk ${disk ?? '?'} GB, traffic ${traffic} of ${includedTraffic ?? 'unlimited'} bytes`;
  },
  'addresses <service> <number>': async (panel, id = '', wanted = '') =>
    lines(await area.buyAddresses(panel, id, Number(wanted)), (address) => address),
  'release-address <service> <address>': async (panel, id = '', address = '') => {
    await area.releaseAddress(panel, id, address);
    return `Service ${id} no longer has ${address}.`;
  },
  'move-address <address> <service>': async (panel, address = '', id = '') => {
    await area.moveAddress(panel, address, id);
    return `Service ${id} has ${address}.`;
  },
  'console <service>': area.consoleLink,
  'rescue <service> <iso>': async (panel, id = '', iso = '') => {
    await area.rescue(panel, id, iso);
    return `Service ${id} boots from ${iso}.`;
  },
  'end-rescue <service>': async (panel, id = '') => {
    await area.endRescue(panel, id);
    return `Service ${id} boots from its disk.`;
  },
  'check <domain>': async (panel, name = '') => `${name} is ${(await domains.isAvailable(panel, name)) ? 'available' : 'taken'}.`,
  'register <service> <domain> <contact-file>': async (panel, id = '', name = '', file = '') =>
    summary(name, await domains.registerDomain(panel, { service: id, name, contact: contactIn(file) })),
  'transfer <service> <domain> <contact-file> <auth-code>': async (panel, ...words) => {
    const [id = '', name = '', file = '', code] = words;
    return summary(name, await domains.registerDomain(panel, { service: id, name, contact: contactIn(file), authcode: code }));
  },
  'domain <domain>': async (panel, name = '') => summary(name, await domains.domainArea(panel, name)),
  'renew <domain> <expiry-date>': async (panel, name = '', expires = '') => summary(name, await domains.renewDomain(panel, name, expires)),
  'contact <domain> <contact-file>': async (panel, name = '', file = '') => {
    await domains.changeContact(panel, name, contactIn(file));
    return `${name} has the contact of ${file}.`;
  },
  'nameservers <domain> <ns1> <ns2>': async (panel, name = '', ns1 = '', ns2 = '') => {
    await domains.setNameservers(panel, name, { ns1, ns2 });
    return summary(name, await domains.domainArea(panel, name));
  },
  'records <domain>': async (panel, name = '') => lines(await domains.records(panel, name), recordLine),
  'add-record <domain> <type> <subdomain> <data>': async (panel, name = '', ...record) => {
    const [type = '', sub = '', data = ''] = record;
    return recordLine(await domains.addRecord(panel, name, { type, sub, data }));
  },
  'edit-record <domain> <record> <data>': async (panel, name = '', record = '', data = '') =>
    recordLine(await domains.editRecord(panel, name, record, data)),
  'remove-record <domain> <record>': async (panel, name = '', record = '') => {
    await domains.removeRecord(panel, name, record);
    return `${name} no longer has the record ${record}.`;
  },
  'lock <domain>': async (panel, name = '') => {
    await domains.setLock(panel, name, true);
    return `${name} is locked against transfers.`;
  },
  'unlock <domain>': async (panel, name = '') => {
    await domains.setLock(panel, name, false);
    return `${name} can be transferred.`;
  },
  'auth-code <domain>': domains.authCode,
  'cancel <domain>': async (panel, name = '') => {
    await domains.cancel(panel, name);
    return summary(name, await domains.domainArea(panel, name));
  },
  'undelete <domain>': async (panel, name = '') => {
    await domains.undelete(panel, name);
    return summary(name, await domains.domainArea(panel, name));
  },
};

function lines<Item>(list: readonly Item[], lineOf: (item: Item) => string): string {
  return list.map(lineOf).join('\n') || 'There are none.';
}

function recordLine({ record_id, name, type, data }: Awaited<ReturnType<typeof domains.addRecord>>): string {
  return `${record_id} ${name} ${type} ${data}`;
}

function summary(name: string, { status, expires, cancelled, nameservers }: domains.DomainArea): string {
  return `${name} is ${status}, ${cancelled ? 'ends' : 'is renewed'} at ${expires}, nameservers ${nameservers.join(', ')}`;
}

function contactIn(file: string): CreateHandleForm {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** The command for the words that were given. @throws Error with all commands if there is none. */
function commandFor(given: readonly string[]): Run {
  for (const [usage, run] of Object.entries(COMMANDS)) {
    const [name, ...wanted] = usage.split(' ');
    const required = wanted.filter((one) => one.startsWith('<')).length;
    if (given[0] === name && given.length > required && given.length <= wanted.length + 1) return run;
  }
  throw new Error(`Usage:\n  ${Object.keys(COMMANDS).join('\n  ')}`);
}

const { RESELLER_URL: baseUrl, PANEL_DATABASE: file = 'panel.sqlite' } = process.env;
const given = process.argv.slice(2);
const orders = openOrders(file);
try {
  const run = commandFor(given);
  // The API key comes from the environment variable RESELLER_API_KEY.
  const reseller = createReseller(baseUrl === undefined ? { environment: 'sandbox' } : { baseUrl });
  console.log(await run({ reseller, orders }, ...given.slice(1)));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  orders.close();
}
