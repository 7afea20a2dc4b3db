/**
 * Measures how long another account waits while one account uses what it has piled up.
 *
 *   node packages/service/bench/neighbours.ts [rows of each kind, default 1000000] [URL of an empty PostgreSQL database]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { Client } from 'pg';

import { report } from '../../../.config/bench-row.ts';
import { writeBillingProfile } from '../src/core/accounting/invoice-document/parties.ts';
import { MAX_WAITING } from '../src/core/events/deliveries.ts';
import { demoBillingProfile, undated } from '../src/sandbox/seller.ts';
import { copyVms } from '../test/large-account.ts';
import { startBenchClient, startBenchService } from './bench-service.ts';
import type { BenchRequest } from './bench-service.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const databaseUrl = process.argv[3];
const ROUNDS = 3;
/** The pause of a server between two rounds of jobs. */
const PAUSE_MS = 1_000;
/** Rows that one statement copies. With all of them, PostgreSQL would end the statement. */
const COPIES_AT_ONCE = 5_000;
/** The other account must not wait longer for any response. */
const MOST_MS = 50;
/** What one account can have, where it is less than the rows of the others. */
const [VMS, KEYS, RECORDS] = [Math.min(ROWS, 20_000), Math.min(ROWS, 1_000), Math.min(ROWS, 1_000)];
/** Backups that are made in a round. */
const BACKUPS = Math.min(ROWS, 1_000);

const bench = await startBenchService(databaseUrl);
const { engine, store, service, reseller, operator } = bench;
const owner = await bench.newAccount('owner');
const neighbour = await bench.newAccount('neighbour');
const client = startBenchClient(owner);
// An account without one has no XML.
await store.commit(({ db }) => writeBillingProfile(db, owner.id, undated(demoBillingProfile), 0));

/**
 * Reads without a pause, as the other account, in a process of its own. It says how long the longest response took. It uses `node:http`, because
 * the collections of garbage of `fetch` take up to 47 ms here, which are not waits for the service.
 */
const reader = spawn(
  process.execPath,
  [
    '-e',
    `const { Agent, request } = require('node:http');
    let longest = 0;
    process.on('message', () => {
      process.send(longest);
      longest = 0;
    });
    const [url, key] = process.argv.slice(1);
    const options = { method: 'POST', headers: { 'x-service-apikey': key, 'content-length': 0 }, agent: new Agent({ keepAlive: true }) };
    process.on('disconnect', () => process.exit());
    function read() {
      const begun = performance.now();
      request(url + '/vm/search', options, (response) => {
        response.resume().on('end', () => {
          longest = Math.max(longest, performance.now() - begun);
          setImmediate(read);
        });
      }).end();
    }
    process.send('ready');
    read();`,
    reseller,
    neighbour.apiKey,
  ],
  { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
);
await once(reader, 'message');

async function longestWait(): Promise<number> {
  reader.send('tell');
  const [longest] = await once(reader, 'message');
  return Number(longest);
}

/**
 * The longest turns of the event loop, in milliseconds of CPU time. No request is handled within a turn. In contrast to the waits, turns do not
 * depend on other programs of the machine.
 */
function turnsOfEventLoop(): { longest(): number } {
  let longest = 0;
  let begun = process.threadCpuUsage();
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(begun);
    longest = Math.max(longest, (user + system) / 1000);
    begun = process.threadCpuUsage();
  }, 0).unref();
  return {
    longest() {
      const found = longest;
      longest = 0;
      return found;
    },
  };
}
const turns = turnsOfEventLoop();

/** @returns The beginning of the response. */
async function send(request: BenchRequest): Promise<string> {
  return (await client.send(request)).text;
}

/** Sends a request of the owner to the reseller API. */
function own(method: BenchRequest['method'], path: string, body?: string): Promise<string> {
  return send({ method, url: reseller + path, ...(body !== undefined && { body }) });
}

/** Waits for work while rounds of jobs run, as in a server. */
async function duringRounds(work: Promise<unknown>): Promise<void> {
  let hasEnded = false;
  const end = work.finally(() => void (hasEnded = true));
  for (;;) {
    await Promise.race([end, sleep(PAUSE_MS)]);
    if (hasEnded) break;
    await service.runRound();
  }
  await end;
}

/**
 * @param work A request, or a round of jobs.
 * @param prepare Runs before each round, and is not measured.
 */
async function measure(
  kind: string,
  count: number,
  what: string,
  work: () => Promise<unknown>,
  prepare: () => Promise<unknown> = async () => {},
): Promise<void> {
  const [rounds, times]: [number[], string[]] = [[], []];
  const longestTurns: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await prepare();
    await longestWait();
    turns.longest();
    const begun = performance.now();
    await duringRounds(work());
    times.push((performance.now() - begun).toFixed(0));
    // Steps next to the rounds begin in a round.
    await service.runRound();
    await service.settled();
    rounds.push(await longestWait());
    longestTurns.push(turns.longest().toFixed(0));
  }
  report({
    name: `${engine}: another account waits while one with ${count} ${kind} ${what}`,
    unit: 'ms',
    target: { kind: 'at most', value: MOST_MS },
    rounds,
    detail: `longest turns ${longestTurns.join(', ')} ms of CPU time; it takes ${times.join(', ')} ms; load of the machine ${loadavg()[0]?.toFixed(1)}`,
  });
}

const PERSON = {
  gender: 'MALE',
  firstname: 'Jonas',
  lastname: 'Weidenfels',
  street: 'Musterallee',
  number: '12a',
  zipcode: '60311',
  city: 'Frankfurt am Main',
  region: 'Hessen',
  countrycode: 'DE',
  email: 'jonas.weidenfels@reseller-customer.example',
  phone: '+49.6955501234',
};

type Table = 'api_keys' | 'dns_records' | 'events' | 'invoices' | 'request_log' | 'webhook_deliveries';

/** Copies a row of the owner, with other values in some columns. `copy` is the number of the copy in them. */
async function copyRow(table: Table, found: RawBuilder<unknown>, count: number, other: Readonly<Record<string, string>>): Promise<void> {
  const row = Object(
    await store.read((db) =>
      db
        .selectFrom(table)
        .selectAll()
        .where(sql<boolean>`${found}`)
        .limit(1)
        .executeTakeFirstOrThrow(),
    ),
  );
  const names = Object.keys(row).filter((name) => name !== 'feed');
  const values = names.map((name) => (other[name] === undefined ? sql`${row[name]}` : sql.raw(other[name])));
  for (let from = 1; from <= count; from += COPIES_AT_ONCE) {
    const last = Math.min(count, from + COPIES_AT_ONCE - 1);
    await store.commit(({ db }) =>
      sql`
        insert into ${sql.table(table)} (${sql.join(names.map((name) => sql.ref(name)))})
        with recursive copies (copy) as (select ${sql.lit(from)} union all select copy + 1 from copies where copy < ${sql.lit(last)})
        select ${sql.join(values)} from copies`.execute(db),
    );
  }
  await tidyUp();
}

/** Ends the work that the copied rows leave to the engine, which is not what is measured. */
async function tidyUp(): Promise<void> {
  if (databaseUrl === undefined) {
    // At a commit, the store moves so many rows from its log to its file.
    await own('PUT', '/vm/create', 'cores=1&mem=1024&disk=10&os=debian_12&hostsystem=nl_ryzen');
    return;
  }
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  await database.query('vacuum analyze');
  await database.query('checkpoint');
  await database.end();
}

const ofOwner = sql`account_id = ${owner.id}`;
function progress(text: string): void {
  process.stderr.write(`${engine}: ${text}\n`);
}

await measure('rows', 0, 'lists nothing', () => own('GET', '/vm/list'));

progress('events, deliveries');
const { webhook_id: webhookId } = JSON.parse(
  await own('PUT', '/account/webhooks/add', 'url=http%3A%2F%2F127.0.0.1%3A9%2F&enabled=false'),
).data;
const webhook = `/account/webhooks/${webhookId}`;
await own('PUT', '/vm/create', 'cores=1&mem=1024&disk=10&os=debian_12&hostsystem=nl_ryzen');
await own('POST', '/account/events');
const first = 1_000;
await copyRow('events', ofOwner, ROWS, {
  id: `'event-' || copy`,
  position: `${first} + copy`,
  subject: `'vm/' || copy % 1000`,
  // With a single type, PostgreSQL would not expect that an index by type helps.
  type: `case copy % 4 when 0 then 'vm.created' when 1 then 'vm.edited' when 2 then 'vm.resized' else 'vm.deleted' end`,
});
await copyRow('webhook_deliveries', sql`webhook_id = ${webhookId}`, ROWS, {
  number: `${first} + copy`,
  event_id: `'event-' || copy`,
  subject: `'vm/' || copy % 1000`,
  state: `case when copy <= ${ROWS - MAX_WAITING + 1} then 'delivered' else 'pending' end`,
});
await store.commit(async ({ db }) => {
  const last = first + ROWS;
  await db.updateTable('event_feeds').set({ last }).where('account_id', '=', owner.id).execute();
  await db.updateTable('webhooks').set({ last_delivery: last, confirming: null }).execute();
});
await measure('events', ROWS, 'reads its feed', () => own('POST', '/account/events', 'cursor=1000&limit=100'));
await measure('events', ROWS, 'reads one type of its feed', () => own('POST', '/account/events', 'type=invoice.paid'));
await measure('deliveries', ROWS, 'lists them', () => own('POST', `${webhook}/deliveries`, 'limit=100'));
await measure('deliveries', ROWS, 'lists those that were given up', () => own('POST', `${webhook}/deliveries`, 'status=failed'));
await measure('deliveries', ROWS, 'enables its webhook', async () => {
  await own('POST', `${webhook}/edit`, 'enabled=true');
  await own('POST', `${webhook}/edit`, 'enabled=false');
});
await measure('deliveries', ROWS, 'changes the URL of its webhook', () =>
  own('POST', `${webhook}/edit`, `url=http%3A%2F%2F127.0.0.1%3A9%2F${Date.now()}`),
);
await measure('deliveries', ROWS, 'is shown to the operator', () =>
  send({ method: 'GET', url: `${operator}/accounts/${owner.id}/webhooks` }),
);
await own('DELETE', `${webhook}/remove`);
await measure('deliveries', ROWS, 'has removed its webhook', () => service.runRound());

progress('log entries');
const { position } = await store.read((db) =>
  db
    .selectFrom('request_log')
    .select(({ fn }) => fn.max('position').as('position'))
    .where('account_id', '=', owner.id)
    .executeTakeFirstOrThrow(),
);
await copyRow('request_log', ofOwner, ROWS, {
  number: `${first} + copy`,
  position: `${Number(position)} + copy * 300`,
  request_id: `'bench-' || copy`,
});
await measure('log entries', ROWS, 'reads the oldest', () => own('POST', '/account/requests', `offset=${ROWS}`));
await measure('log entries', ROWS, 'buys a VM', () =>
  own('PUT', '/vm/create', 'cores=1&mem=1024&disk=10&os=debian_12&hostsystem=nl_ryzen'),
);

progress('keys');
await copyRow('api_keys', ofOwner, KEYS, { id: `'key-' || copy`, hash: `'hash-' || copy` });
await measure('keys', KEYS, 'lists them', () => own('GET', '/account/keys'));

progress('records of a zone');
const { handle } = JSON.parse(await own('PUT', '/domain/handle/create', String(new URLSearchParams(PERSON)))).data;
await own('POST', '/domain/register', `domain=neighbour-bench.net&handle=${handle}`);
await own('PUT', '/domain/neighbour-bench.net/dns/add', 'type=TXT&sub=a&data=one');
await copyRow('dns_records', sql`domain = 'neighbour-bench.net'`, RECORDS - 10, { id: `'record-' || copy`, sub: `'name-' || copy` });
await measure('records', RECORDS, 'lists them', () => own('GET', '/domain/neighbour-bench.net/dns/list'));
let added = 0;
await measure('records', RECORDS, 'adds one', () => own('PUT', '/domain/neighbour-bench.net/dns/add', `type=TXT&sub=b&data=${added++}`));

progress('VMs');
await store.commit(async ({ db }) => {
  const vms = await db.selectFrom('vms').select('id').where('account_id', '=', owner.id).orderBy('id').execute();
  for (const { id } of vms.slice(1)) {
    await db.deleteFrom('positions').where('vm_id', '=', id).execute();
    await db.updateTable('ip_addresses').set({ vm_id: null }).where('vm_id', '=', id).execute();
    await db.deleteFrom('vms').where('id', '=', id).execute();
  }
  await db.updateTable('vms').set({ labels: '{"panel":"one"}' }).where('account_id', '=', owner.id).execute();
  await copyVms(db, owner.id, VMS);
});
await tidyUp();
await measure('VMs', VMS, 'lists them', () => own('GET', '/vm/list'));
await measure('VMs', VMS, 'finds them by a label', () => own('POST', '/vm/search', 'labels=panel%3Done'));
await measure('VMs', VMS, 'reads its running invoice', () => own('GET', '/accounting/invoices/current'));
await measure('VMs', VMS, 'is exported', () => send({ method: 'GET', url: `${operator}/accounts/${owner.id}/export` }));
await measure('VMs', VMS, 'ends a month', async () => {
  bench.enterNextMonth();
  await service.runRound();
});

const [invoice] = Object.entries(JSON.parse(await own('GET', '/accounting/invoices')).data).map(([id, summary]) => ({
  id,
  link: String(Object(summary).invoice),
}));
if (!invoice) throw new Error('The month has no invoice.');
const { id: invoiceId, link } = invoice;
await measure('VMs', VMS, 'reads the invoice of a month', () => own('GET', `/accounting/invoices/${invoiceId}`));
await measure('VMs', VMS, 'is invoiced, and the operator reads it', () =>
  send({ method: 'GET', url: `${operator}/invoices/${invoiceId}` }),
);
await measure('VMs', VMS, 'opens the XML of a month', () => send({ method: 'GET', url: link.replace('.pdf?', '.xml?') }));
// A long PDF is drawn once, while its requests are refused.
await measure('VMs', VMS, 'opens the PDF of a month', async () => {
  while ((await client.send({ method: 'GET', url: link, expected: [200, 503] })).status === 503) await sleep(500);
});

progress('backups');
await measure('backups', BACKUPS, 'makes them by their schedules', service.runRound, () =>
  store.commit(({ db }) =>
    db
      .updateTable('vms')
      .set({ backup_slots: 1, backup_schedule: 'daily', backup_due: 1 })
      .where('account_id', '=', owner.id)
      .where('id', 'in', db.selectFrom('vms').select('id').where('account_id', '=', owner.id).orderBy('id').limit(BACKUPS))
      .execute(),
  ),
);
await measure('backups', BACKUPS, 'is exported', () => send({ method: 'GET', url: `${operator}/accounts/${owner.id}/export` }));

progress('invoices');
// There is one a month.
const invoices = Math.min(ROWS, 1_000);
await copyRow('invoices', ofOwner, invoices, { id: `'invoice-' || copy`, number: 'null', created: `copy`, period_start: `copy` });
await measure('invoices', invoices, 'lists them', () => own('GET', '/accounting/invoices'));

client.end();
reader.kill();
await bench.close();
