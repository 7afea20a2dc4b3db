import type { SimulatedPort } from '@reseller/service';

/** Addresses of a started service and how to use it. */
export interface Started {
  readonly mode: 'sandbox' | 'live';
  /** Whether the reseller API has the extension. */
  readonly extension: boolean;
  readonly baseUrl: string;
  readonly operatorUrl: string;
  /** Key of a sandbox's demo account; undefined for a live service. */
  readonly apiKey: string | undefined;
  /** The token that the sandbox generated; undefined if the configuration has it. */
  readonly operatorToken: string | undefined;
  /** A one-time code of the console; undefined if the configuration has the operator token, because its holder signs in with it. */
  readonly signInCode: string | undefined;
  /** The line about what is simulated; undefined if nothing is. */
  readonly notice: string | undefined;
  /** Where VMs really run; undefined for a simulation. */
  readonly vms: string | undefined;
  /** The operations to call before a live service issues keys that can buy. */
  readonly missing: string | undefined;
  /** Seconds that the clock of a sandbox is ahead. */
  readonly clockAdvance: number;
  /** Whether the documentation is built. */
  readonly hasDocs: boolean;
  /** The port of the name server of a sandbox. */
  readonly dnsPort: number | undefined;
  /** Location of the store. */
  readonly data: string;
}

const PRODUCTS = { hypervisor: 'VMs', fleet: 'dedicated servers', registrar: 'domains', dns: 'zones' } satisfies Record<
  SimulatedPort,
  string
>;

const LABEL_WIDTH = 16;

/** The text that `start` prints. For a sandbox, its last line is the command to try first. */
export function welcome({
  mode,
  extension,
  baseUrl,
  operatorUrl,
  apiKey,
  operatorToken,
  signInCode,
  notice,
  vms,
  missing,
  clockAdvance,
  hasDocs,
  data,
  dnsPort,
}: Started): string {
  const isSandbox = mode === 'sandbox';
  const bearer = operatorToken ?? '$RESELLER_OPERATOR_TOKEN';
  const facts = [
    ['Console', `${operatorUrl}/console/${signInCode === undefined ? '' : `#code=${signInCode}`}`],
    ['Base URL', baseUrl],
    ['Docs', hasDocs ? `${baseUrl}/docs/` : 'not built. Run npx -y pnpm@12 build, and start again'],
    ['API key', apiKey],
    ['Clock', clockAdvance > 0 ? `${duration(clockAdvance)} ahead of this machine` : undefined],
    ['Operator', operatorUrl],
    ['Operator docs', hasDocs ? `${isSandbox ? baseUrl : operatorUrl}/docs/operator/` : undefined],
    ['Operator token', operatorToken],
    ['Metrics', `${operatorUrl}/metrics`],
    ['VMs', vms],
    ['Extension', extensionFact(extension)],
    ['DNS', dnsPort === undefined ? undefined : `dig @127.0.0.1 -p ${dnsPort} reseller-customer.net`],
    ['Data', data],
    ['Reset', isSandbox ? `curl -X POST ${operatorUrl}/sandbox/reset -H "Authorization: Bearer ${bearer}"` : undefined],
  ] as const;
  const lines = [
    `Reseller Infrastructure Service API, ${mode}`,
    ...(isSandbox || notice === undefined ? [] : ['', notice]),
    ...(missing === undefined ? [] : ['', `It issues keys that can buy only after you call ${missing}.`]),
    '',
    ...facts.flatMap(([label, value]) => (value === undefined ? [] : [`  ${label.padEnd(LABEL_WIDTH)}${value}`])),
    '',
  ];
  if (apiKey !== undefined) {
    lines.push(
      'Buy a VM (free in the sandbox):',
      '',
      `curl -X PUT ${baseUrl}/vm/create -H 'X-SERVICE-APIKEY: ${apiKey}' -d cores=2 -d mem=4096 -d disk=40 -d os=debian_12 -d hostsystem=nl_ryzen`,
      '',
    );
  }
  return `\n${lines.join('\n')}\n`;
}

/** What resellers may do. */
export function extensionFact(extension: boolean): string {
  return extension
    ? 'on: resellers may list, stop, change and delete what they bought'
    : 'off: resellers cannot list, stop or delete their VMs';
}

/** Says which of the products do not exist, because their ports are simulated. */
export function simulationNotice(simulated: readonly SimulatedPort[]): string | undefined {
  const products = simulated.map((port) => PRODUCTS[port]);
  if (products.length === 0) return undefined;
  const isAll = products.length === Object.keys(PRODUCTS).length;
  return isAll
    ? 'The infrastructure is simulated: the servers and domains that this service sells do not exist.'
    : `The infrastructure is partly simulated: the ${new Intl.ListFormat('en-GB').format(products)} that this service sells do not exist.`;
}

/** A duration in its two largest units: `40 days 2 hours`. */
function duration(seconds: number): string {
  const units = [
    { name: 'day', amount: Math.floor(seconds / 86_400) },
    { name: 'hour', amount: Math.floor(seconds / 3600) % 24 },
    { name: 'minute', amount: Math.floor(seconds / 60) % 60 },
    { name: 'second', amount: seconds % 60 },
  ];
  const largest = units.findIndex(({ amount }) => amount > 0);
  return units
    .slice(largest, largest + 2)
    .filter(({ amount }) => amount > 0)
    .map(({ name, amount }) => `${amount} ${name}${amount === 1 ? '' : 's'}`)
    .join(' ');
}
