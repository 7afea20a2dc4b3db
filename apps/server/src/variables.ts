/** The environment variables of the process. The table in README.md is generated from them. */
import { isIP } from 'node:net';

import { errorText } from '@reseller/contract/is-error';
import { DELAYED, publicUrlOf, readDatabaseUrl } from '@reseller/service/configuration';
import type { Delays } from '@reseller/service/configuration';
import * as v from 'valibot';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
/** Values of target_session_attrs. The service refuses sessions that cannot write in any case. */
const WRITING_SESSIONS = ['read-write', 'primary'];
const MIN_SECRET_LENGTH = 32;

/** Each message follows the name of the variable. */
export const variables = v.object({
  RESELLER_HOST: described(v.optional(v.string(), '127.0.0.1'), 'address to listen on'),
  RESELLER_PORT: described(v.optional(port(), '4010'), 'port; 0 picks a free one'),
  RESELLER_MODE: described(
    v.optional(v.picklist(['sandbox', 'live'], wanted('sandbox or live')), 'sandbox'),
    '`sandbox`, or `live`: no sample data, no demo account and no sandbox operations',
  ),
  RESELLER_ADAPTERS: described(
    v.optional(v.string()),
    'JavaScript module with your adapters for real infrastructure, relative to the working directory. It exports `createAdapters`; see [Adapters](#adapters)',
  ),
  RESELLER_HYPERVISOR: described(
    v.optional(v.picklist(['qemu', 'simulated'], wanted('qemu or simulated, or omit it'))),
    '`qemu` for VMs of [QEMU](../../packages/adapters/README.md#qemu) on this machine, as `--real` does, or `simulated` for VMs that do not exist, also in a live service. Omit it if `RESELLER_ADAPTERS` has a hypervisor',
    '`simulated` in a sandbox',
  ),
  RESELLER_QEMU_IMAGES: described(
    v.optional(v.string()),
    'with `RESELLER_HYPERVISOR=qemu`: folder with `NAME.qcow2` for each operating system of the catalogue and `NAME.iso` for each ISO file, relative to the working directory. Required for a live service',
    'a small Linux for tests, which a sandbox builds at its first start and installs for every operating system',
  ),
  RESELLER_SANDBOX_DELAYS: described(
    v.optional(v.pipe(v.string(), v.rawTransform(readDelays))),
    'how long the simulated infrastructure of a sandbox takes, such as `install=20s,domain=2m`, so that programs can test how they wait. A request is then answered while its change goes on: `GET /vm/{vmid}/status` shows its task, `GET /vm/{vmid}/status/installation` its progress, and a domain is `PENDING`. `install` delays purchases and reinstallations of VMs, `start` delays starts and restarts, `stop`, `resize` and `remove` delay the operations of these names, and `domain` delays registrations and transfers. Each is up to `24h`. An advance of the clock ends them earlier',
    'no delay',
  ),
  RESELLER_FLEET: described(
    v.optional(simulated()),
    '`simulated` for dedicated servers that do not exist, also in a live service. Omit it if `RESELLER_ADAPTERS` has a fleet',
    '`simulated` in a sandbox',
  ),
  RESELLER_REGISTRAR: described(
    v.optional(simulated()),
    '`simulated` for domains that are not registered, also in a live service. Omit it if `RESELLER_ADAPTERS` has a registrar',
    '`simulated` in a sandbox',
  ),
  RESELLER_DNS: described(
    v.optional(v.picklist(['powerdns', 'simulated'], wanted('powerdns or simulated, or omit it'))),
    '`powerdns` for zones in [PowerDNS](../../packages/adapters/README.md#powerdns), or `simulated` for zones that no server answers for, also in a live service. Omit it if `RESELLER_ADAPTERS` has DNS',
    '`simulated` in a sandbox',
  ),
  RESELLER_POWERDNS_URL: described(
    v.optional(v.pipe(v.string(), v.url(wanted('the URL of the web server of PowerDNS, such as http://127.0.0.1:8081')))),
    'with `RESELLER_DNS=powerdns`: URL of the web server of PowerDNS',
    '`http://127.0.0.1:8081`',
  ),
  RESELLER_POWERDNS_API_KEY: described(
    v.optional(v.string()),
    'with `RESELLER_DNS=powerdns`: the value of `api-key` in the settings of PowerDNS. Required',
  ),
  RESELLER_INFRASTRUCTURE: described(
    v.optional(simulated()),
    '`simulated` to simulate everything that has no adapter, as a sandbox does. A live service then says in its banner, in `/readyz` and in its log that what it sells of this does not exist. Without it, a live service starts only if each of hypervisor, fleet, registrar and dns has an adapter or is set to `simulated`',
  ),
  RESELLER_OPERATOR_TOKEN: described(
    v.optional(
      v.pipe(
        v.string(),
        v.regex(
          /^[!-~]{32,256}$/,
          'cannot be used. Set it to 32 to 256 visible ASCII characters, or omit it in a sandbox, which then generates one in the data directory.',
        ),
      ),
    ),
    'bearer token of the operator API, at least 32 characters. Required for a live service; a sandbox generates one at its first start and prints it',
    'a file in the data folder',
  ),
  RESELLER_OPERATOR_HOST: described(
    v.optional(v.string(), '127.0.0.1'),
    'address to listen on for the operator API, whatever `RESELLER_HOST` is. Resellers must not be able to reach it',
  ),
  RESELLER_OPERATOR_PORT: described(
    v.optional(port()),
    'port for the provider only: the operator API, `/metrics` (Prometheus, with the operator token as bearer token), `/healthz`, `/readyz`',
    'the port after `RESELLER_PORT`',
  ),
  RESELLER_DNS_PORT: described(
    v.optional(port()),
    'port on which a sandbox answers DNS queries about its domains, over UDP and TCP. If it is in use, the sandbox starts without',
    'the port after that of the operator API',
  ),
  RESELLER_PUBLIC_URL: described(
    v.optional(v.pipe(v.string(), v.rawTransform(readPublicUrl))),
    'URL at which callers reach the service, such as `https://api.example.com`. Links to invoice documents begin with it. Set it behind a proxy, because the service never trusts a `Host` header. Required for a live service',
    'the address that it listens on',
  ),
  RESELLER_AUDIT_FILE: described(
    v.optional(v.string()),
    'file to which every audit record is appended within about a second, as a line of JSON with its number and its hash. A restart continues where the file ends. Each instance needs a file of its own',
    'no export',
  ),
  RESELLER_INVOICE_LINK_DAYS: described(
    v.optional(wholeNumber({ unit: 'days', from: 1, to: 3_650 }), '30'),
    'days for which a link to an invoice document is valid, from 1 to 3650, then to the next midnight UTC. A link needs no API key. A later request for the invoice returns a new link',
  ),
  RESELLER_TRUST_PROXY: described(
    v.optional(v.pipe(v.string(), v.rawTransform(readNetworks)), ''),
    'IP addresses and CIDR networks of your proxies, separated by commas, such as `10.0.0.5,2001:db8::/48`. For requests from them, the client address in limits and logs is the one in `X-Forwarded-For`. Without it, all clients behind a proxy share its address, and so share the limit on guessing keys. A number of hops is not accepted, because a client that reaches the service directly could then choose its address',
  ),
  RESELLER_ALLOWED_HOSTS: described(
    v.optional(v.pipe(v.string(), v.rawTransform(readHosts)), ''),
    'names of hosts that a sandbox takes in the `Host` header, separated by commas, such as `sandbox,sandbox.example.com`. Without it, a sandbox takes `localhost`, IP addresses and the host of `RESELLER_PUBLIC_URL`, so that no page in a browser can read its responses under another name. A live service takes every host',
  ),
  RESELLER_SECURITY_CONTACT: described(
    v.optional(
      v.pipe(
        v.string(),
        v.check(
          (text) => /^(?:mailto:|https:\/\/|tel:)[!-~]+$/.test(text) && URL.canParse(text),
          wanted('a URL, such as mailto:security@example.com or https://example.com/security'),
        ),
      ),
    ),
    'where to report vulnerabilities, such as `mailto:security@example.com`. Both ports then serve `/.well-known/security.txt` (RFC 9116)',
  ),
  DATABASE_URL: described(
    v.optional(v.pipe(v.string(), v.rawCheck(checkDatabaseUrl))),
    'connection string of a PostgreSQL database, which replaces the embedded store. Any number of instances can share it. It requires `RESELLER_SECRET` and `RESELLER_OPERATOR_TOKEN`, the same on each instance. Instances keep nothing on their disks. It may name several hosts, `postgres://user:password@one:5432,two:5432/reseller?target_session_attrs=read-write`; the service uses the one that accepts writes',
  ),
  RESELLER_DATA_DIR: described(
    v.optional(v.string(), '.data'),
    'without `DATABASE_URL`: folder of the embedded store and the key files, relative to the root of the repository; one process at a time',
  ),
  RESELLER_EXTENSION: described(
    v.optional(
      v.pipe(
        v.picklist(['on', 'off'], wanted('on or off')),
        v.transform((text) => text === 'on'),
      ),
    ),
    '`on` for the operations of the extension, which the specification names but does not show. They let resellers list, stop, change and delete what they bought. `off` responds to them as to any unknown path. Required for a live service',
    '`on` in a sandbox',
  ),
  RESELLER_LEASE_SECONDS: described(
    v.optional(seconds(), '15'),
    'with `DATABASE_URL`: seconds after which a silent instance counts as dead, and the others undo its interrupted purchases',
  ),
  RESELLER_MAX_CLOCK_SKEW_SECONDS: described(
    v.optional(seconds()),
    'with `DATABASE_URL`: seconds by which the clock of the machine may differ from that of the database; see [A wrong clock](#a-wrong-clock)',
    '`5`',
  ),
  RESELLER_MAX_CLOCK_JUMP_HOURS: described(
    v.optional(wholeNumber({ unit: 'hours', from: 1, to: 87_600 })),
    'without `DATABASE_URL`: hours by which a clock that NTP does not keep right may be ahead of the time at which the store was last in use; see [A wrong clock](#a-wrong-clock)',
    '`1` for a live service, no limit for a sandbox',
  ),
  RESELLER_CLOCK_CONFIRMED_UNTIL: described(
    v.optional(instant()),
    'without `DATABASE_URL`: an instant such as `2026-12-24T18:00:00Z`, up to which an operator confirms the clock',
  ),
  RESELLER_DRAIN_SECONDS: described(
    v.optional(wholeNumber({ unit: 'seconds', from: 0, to: 3_600 }), '5'),
    'on SIGTERM: seconds in which the service still accepts connections, while `/readyz` is 503 and each response closes its connection. Longer than the interval in which a load balancer checks readiness',
  ),
  RESELLER_INFRASTRUCTURE_SECONDS: described(
    v.optional(seconds(), '30'),
    'timeout of a call to the hypervisor, the registrar or the fleet in seconds, from 1 to 3600. A call that takes longer counts as failed, and the service undoes or finishes the change. Requests, and the shutdown of the process, wait at most twice as long',
  ),
  RESELLER_LOG_LEVEL: described(
    v.optional(v.picklist(LOG_LEVELS, wanted(`one of ${LOG_LEVELS.join(', ')}`)), 'warn'),
    '`fatal` to `trace`, or `silent`; JSON lines on standard error. If no process reads them, the service goes on: it keeps 1 MiB of lines, loses further ones, counts them in the metric `reseller_log_lines_lost_total`, and logs their number later',
  ),
  RESELLER_SECRET: described(
    v.optional(secret('at least 32 random characters, or omit it and the service generates one in the data directory')),
    'at least 32 characters. The service hashes one-time codes with it, and encrypts secrets that it must show again. Generated at the first start, unless `DATABASE_URL` is set. A store accepts only the secret of its first start, until you rotate it',
    'a file in the data folder',
  ),
  RESELLER_SECRET_PREVIOUS: described(
    v.optional(secret('the secret that the service used so far, or omit it')),
    'a second secret that the service accepts while you rotate the first; see "Rotating the secret"',
  ),
});

export interface Description {
  /** In Markdown. */
  readonly meaning: string;
  /** The default in Markdown, if it is not a value. */
  readonly standard: string;
}

function described<Schema extends v.GenericSchema>(schema: Schema, meaning: string, standard = '') {
  return v.pipe(schema, v.metadata({ meaning, standard } satisfies Description));
}

function wanted(expectation: string) {
  return ({ input }: { readonly input: unknown }): string => `is '${String(input)}'. Set it to ${expectation}.`;
}

function simulated() {
  return v.literal('simulated', wanted('simulated, or omit it'));
}

function wholeNumber({ unit, from, to }: { unit: string; from: number; to: number }) {
  return numberFrom(from, to, `a whole number of ${unit} from ${from} to ${to}`);
}

function seconds() {
  return wholeNumber({ unit: 'seconds', from: 1, to: 3_600 });
}

function port() {
  return numberFrom(0, 65_535, 'a port number from 0 to 65535, where 0 picks a free port');
}

function numberFrom(from: number, to: number, expectation: string) {
  return v.pipe(
    v.string(),
    v.check((text) => /^\d{1,5}$/.test(text) && Number(text) >= from && Number(text) <= to, wanted(expectation)),
    v.transform(Number),
  );
}

function instant() {
  return v.pipe(
    v.string(),
    v.check(
      (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/.test(text) && !Number.isNaN(Date.parse(text)),
      wanted('an instant in UTC, such as 2026-12-24T18:00:00Z'),
    ),
    v.transform(Date.parse),
  );
}

/** The message does not show the secret. */
function secret(expectation: string) {
  return v.pipe(
    v.string(),
    v.minLength(MIN_SECRET_LENGTH, ({ input }) => `has ${input.length} characters. Set it to ${expectation}.`),
  );
}

function readPublicUrl({ dataset: { value }, addIssue, NEVER }: v.RawTransformContext<string>): string {
  try {
    return publicUrlOf(value);
  } catch (error) {
    addIssue({ message: `cannot be used. ${errorText(error)}` });
    return NEVER;
  }
}

/** A number of hops does not suffice, because a client that reaches the service directly could then choose its address. */
function readNetworks({ dataset: { value }, addIssue, NEVER }: v.RawTransformContext<string>): readonly string[] {
  const networks = value.split(',').flatMap((part) => part.trim() || []);
  const wrong = networks.find((network) => !isNetwork(network));
  if (wrong === undefined) return networks;
  addIssue({
    message: `has '${wrong}'. Set it to the IP addresses or networks of your proxies, separated by commas, such as 10.0.0.5,2001:db8::/48.`,
  });
  return NEVER;
}

const MS_OF_UNIT: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const MAX_DELAY_MS = 86_400_000;

function readDelays({ dataset: { value }, addIssue, NEVER }: v.RawTransformContext<string>): Delays {
  const delays: Record<string, number> = {};
  for (const part of value.split(',').flatMap((one) => one.trim() || [])) {
    const [, what = '', count = '', unit = ''] = /^(\w+)=(\d{1,5})([smh])$/.exec(part) ?? [];
    const delay = Number(count) * (MS_OF_UNIT[unit] ?? NaN);
    if (!DELAYED.some((one) => one === what) || what in delays || !(delay <= MAX_DELAY_MS)) {
      addIssue({
        message: `has '${part}'. Set it to delays separated by commas, such as install=20s,domain=2m: each of ${DELAYED.join(', ')} at most once, with a whole number of s, m or h, up to 24h.`,
      });
      return NEVER;
    }
    delays[what] = delay;
  }
  return delays;
}

function readHosts({ dataset: { value }, addIssue, NEVER }: v.RawTransformContext<string>): readonly string[] {
  const hosts = value.split(',').flatMap((part) => part.trim().toLowerCase() || []);
  const wrong = hosts.find((host) => !/^[a-z0-9._-]{1,253}$/.test(host));
  if (wrong === undefined) return hosts;
  addIssue({
    message: `has '${wrong}'. Set it to names of hosts without a port, separated by commas, such as sandbox,sandbox.example.com.`,
  });
  return NEVER;
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  const bits = Number(prefix ?? '1');
  return (prefix === undefined || /^\d{1,3}$/.test(prefix)) && bits >= 1 && bits <= (family === 4 ? 32 : 128);
}

/** No message shows the value, because it contains a password. */
function checkDatabaseUrl({ dataset, addIssue }: v.RawCheckContext<string>): void {
  if (!dataset.typed) return;
  const address = readDatabaseUrl(dataset.value);
  if (!address) {
    addIssue({
      message:
        'is not a connection string of a PostgreSQL database. Set it to one, such as postgres://user:password@host:5432/database, with special characters of the password percent-encoded, and several hosts separated by commas.',
    });
  } else if (address.targetSession !== undefined && !WRITING_SESSIONS.includes(address.targetSession)) {
    addIssue({
      message: `has target_session_attrs=${address.targetSession}, but the service needs to write. Set it to ${WRITING_SESSIONS.join(' or ')}, or omit it.`,
    });
  }
}
