/** A sandbox in a process of its own, with an account of a billing panel and a receiver of its webhooks. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { createReseller } from '@reseller/client/extension';
import type { Reseller } from '@reseller/client/extension';
import { verifyWebhook } from '@reseller/client/webhooks';
import type { WebhookPayload } from '@reseller/client/webhooks';
import { advanceClock, createAccount, createClient, issueApiKey } from '@reseller/operator-client';
import { onTestFinished } from 'vitest';

import { openOrders } from '../../../../examples/panel/src/orders.ts';
import type { Panel } from '../../../../examples/panel/src/purchase.ts';
import { startPowerDns } from '../../../../packages/adapters/test/powerdns.ts';
import { factsOf, linkTestImages, outputIn, processesOf } from '../../../../packages/adapters/test/qemu.ts';
import type { Facts } from '../../../../packages/adapters/test/qemu.ts';
import { startServer, temporaryDirectory } from '../process.ts';

/** A customer's server, seen from inside. */
interface Login {
  readonly vmid: string;
  readonly username: string;
  readonly password: string;
}

/** The systems behind the service, seen without it. */
export interface RealSystems {
  /** The facts of a machine, as soon as they are as expected. */
  facts(vmid: string, isExpected?: (facts: Facts) => boolean): Promise<Facts>;
  /** Runs a command in a machine. @returns Its output; undefined if the password is wrong. */
  run(login: Login, command: string): Promise<string | undefined>;
  /** The folders of machines, and the number of their processes. */
  machines(): { readonly folders: readonly string[]; readonly processes: number };
  /** The data of a name, from the DNS server. */
  resolve(name: string, type: string): Promise<string[] | undefined>;
}

export interface World {
  readonly baseUrl: string;
  /** The program under test. */
  readonly panel: Panel;
  readonly reseller: Reseller;
  /** The URL of the receiver, and the events that it has verified with a secret. */
  readonly webhookUrl: string;
  verified(secret: string): Promise<readonly WebhookPayload[]>;
  advance(seconds: number): Promise<void>;
  /** Undefined if the infrastructure is simulated. */
  readonly real: RealSystems | undefined;
}

const TOKEN = 'operator-token-of-the-panel-scenario-0123';

/** @param environment The engine, or the settings of real systems. */
export async function startWorld(environment: Readonly<Record<string, string>>, real?: RealSystems): Promise<World> {
  const server = await startServer({ RESELLER_OPERATOR_TOKEN: TOKEN, ...environment });
  const client = createClient({ baseUrl: server.operatorUrl, token: TOKEN });
  const { id } = await createAccount({ client, body: { name: 'Panel company', credit_limit: '1000.00' } });
  const { key } = await issueApiKey({ client, path: { account_id: id }, body: { label: 'panel' } });
  const reseller = createReseller({ baseUrl: server.baseUrl, apiKey: key });
  const orders = openOrders(join(temporaryDirectory(), 'panel.sqlite'));
  onTestFinished(() => orders.close());
  return {
    baseUrl: server.baseUrl,
    panel: { reseller, orders },
    reseller,
    ...(await startReceiver()),
    advance: async (seconds) => void (await advanceClock({ client, body: { by_seconds: seconds } })),
    real,
  };
}

async function startReceiver() {
  const received: { readonly body: string; readonly headers: Readonly<Record<string, string | string[] | undefined>> }[] = [];
  const receiver = createServer();
  receiver.on('request', async (request, response) => {
    received.push({ body: await text(request), headers: request.headers });
    response.writeHead(204).end();
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  onTestFinished(() => {
    receiver.close();
    receiver.closeAllConnections();
  });
  // A server on a port has an address.
  const { port } = Object(receiver.address()) as AddressInfo;
  return {
    webhookUrl: `http://127.0.0.1:${port}/events`,
    verified: (secret: string) => Promise.all(received.map(({ body, headers }) => verifyWebhook(body, headers, secret))),
  };
}

/** A sandbox that sells machines of QEMU, and publishes its zones to PowerDNS. */
export async function startRealWorld(): Promise<World> {
  const [data, images] = [temporaryDirectory(), join(temporaryDirectory(), 'images')];
  await linkTestImages(images, 'debian_12');
  const dns = await startPowerDns();
  onTestFinished(() => dns.stop());
  const folder = join(data, 'adapters/qemu');
  const markOf = (vmid: string): { service: string; ports: Record<string, number> } =>
    JSON.parse(readFileSync(join(folder, `vm-${vmid}`, 'vm.json'), 'utf8'));
  const serviceIds = new Set<string>();
  onTestFinished(() => {
    for (const pid of [...serviceIds].flatMap((id) => processesOf(id))) process.kill(pid, 'SIGKILL');
  });
  const environment = {
    RESELLER_DATA_DIR: data,
    RESELLER_HYPERVISOR: 'qemu',
    RESELLER_QEMU_IMAGES: images,
    RESELLER_DNS: 'powerdns',
    RESELLER_POWERDNS_URL: dns.url,
    RESELLER_POWERDNS_API_KEY: dns.apiKey,
  };
  return startWorld(environment, {
    facts(vmid, isExpected) {
      const { service, ports } = markOf(vmid);
      serviceIds.add(service);
      return factsOf(ports['80'], isExpected);
    },
    run: ({ vmid, ...login }, command) => outputIn(join(folder, `vm-${vmid}`), login, command),
    machines: () => ({
      folders: readdirSync(folder).filter((name) => name.startsWith('vm-')),
      processes: [...serviceIds].flatMap((id) => processesOf(id)).length,
    }),
    resolve: dns.resolve,
  });
}
