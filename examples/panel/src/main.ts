/** The panel as a command, which a billing system calls: `node src/main.ts create 4711 small`. */
import { createReseller } from '@reseller/client/extension';

import { createPanel } from './panel.ts';
import type { Panel } from './panel.ts';
import { openServices } from './services.ts';

const USAGE = `Usage:
  create <service> <package>
  suspend <service>
  unsuspend <service>
  change-cost <service> <package>
  change-package <service> <package>
  terminate <service>
  client-area <service>
  new-password <service>`;

/** @returns The line that the command prints. */
async function run(panel: Panel, [command, service, packageName = '']: readonly string[]): Promise<string> {
  const id = /^\d+$/.test(service ?? '') ? Number(service) : NaN;
  if (Number.isNaN(id)) throw new Error(USAGE);
  switch (command) {
    case 'create': {
      const { vmid, address, username, password = 'request a new one' } = await panel.create(id, packageName);
      return `VM ${vmid} at ${address}, user ${username}, password: ${password}`;
    }
    case 'suspend':
      await panel.suspend(id);
      return `Service ${id} is suspended.`;
    case 'unsuspend':
      await panel.unsuspend(id);
      return `Service ${id} is active.`;
    case 'change-cost': {
      const { net, gross } = await panel.changeCost(id, packageName);
      return `Service ${id} with the package ${packageName} would cost ${net} EUR net, ${gross} EUR gross for 30 days.`;
    }
    case 'change-package':
      await panel.changePackage(id, packageName);
      return `Service ${id} has the package ${packageName}.`;
    case 'terminate':
      await panel.terminate(id);
      return `Service ${id} is terminated.`;
    case 'client-area': {
      const { package: name, state, vm } = await panel.clientArea(id);
      return `${name}, ${state}${vm ? `: ${vm.hostname} at ${vm.address} is ${vm.status}` : ''}`;
    }
    case 'new-password':
      return `The new password is ${await panel.newPassword(id)}`;
    default:
      throw new Error(USAGE);
  }
}

const { RESELLER_URL: baseUrl, PANEL_DATABASE: file = 'panel.sqlite' } = process.env;
const services = openServices(file);
try {
  // The API key comes from the environment variable RESELLER_API_KEY.
  const reseller = createReseller(baseUrl === undefined ? { environment: 'sandbox' } : { baseUrl });
  console.log(await run(createPanel(reseller, services), process.argv.slice(2)));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  services.close();
}
