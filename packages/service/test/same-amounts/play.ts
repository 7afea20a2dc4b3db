/** Plays a scenario in one of many ways, and returns every amount that came of it. */
import { fillPath } from '@reseller/contract';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';

import { contentOf, storedContentOf } from '../../src/core/accounting/invoice-document/stored-content.ts';
import { createAccount, issueApiKey, simulatedPorts } from '../../src/index.ts';
import type { Store } from '../../src/index.ts';
import { euros } from '../../src/rules/money.ts';
import type { Tuning } from '../../src/store/tuning.ts';
import { openStore } from '../engines.ts';
import type { Engine } from '../engines.ts';
import { SECRET } from '../harness.ts';
import { callOperation, injectedInto, operatorRequest } from '../http-client.ts';
import { OPERATOR_TOKEN } from '../operator.ts';
import { START, TestClock } from '../ports/clock.ts';
import { seededPlace } from '../prepared-store.ts';
import { createProviderService } from '../provider-service.ts';
import type { ProviderService } from '../provider-service.ts';
import { diceOf, seededRandom } from '../simulator/seeded-random.ts';
import { scenarioOf } from './scenario.ts';
import type { Event } from './scenario.ts';

/** A way to run the service that must not change an amount. */
export interface Way {
  readonly engine: Engine;
  readonly instances: 1 | 2;
  readonly tuning: Partial<Tuning>;
  /**
   * `jump`: the clock jumps from event to event. `steps`: scheduled jobs also run a second before, at and a second after each edge, and every
   * few days. `stopped`: the service does not run between some events.
   */
  readonly time: 'jump' | 'steps' | 'stopped';
}

interface Instance {
  readonly store: Store;
  readonly service: ProviderService;
}

export async function play(seed: number, way: Way): Promise<Readonly<Record<string, readonly string[]>>> {
  const clock = new TestClock();
  // Each request draws the same identifiers, however many were drawn before. Lines of an invoice are in the order of identifiers.
  let random = seededRandom(seed, 'accounts');
  const ports = simulatedPorts({ clock, random: { bytes: (count) => random.bytes(count) } });
  const place = await seededPlace(way.engine);
  const seeding = await openStore(way.engine, place, way.tuning);
  const accounts = await seeding.commit(async ({ db }) => {
    const created = [];
    for (const name of ['first', 'second']) {
      const id = await createAccount(db, ports, { name, creditLimit: euros('100000.00') });
      created.push({ id, apiKey: await issueApiKey(db, ports, id, { label: name, mode: 'sandbox' }) });
    }
    return created;
  });
  await seeding.close();
  let running: Instance[] = [];
  async function start(): Promise<void> {
    for (let number = 0; number < way.instances; number++) {
      const store = await openStore(way.engine, place, way.tuning);
      const given = { ports, secret: SECRET, operatorToken: OPERATOR_TOKEN, publicUrl: 'https://same.example' };
      running.push({ store, service: await createProviderService({ store, ...given, logger: pino({ level: 'silent' }) }) });
    }
  }
  async function stop(): Promise<void> {
    for (const { service, store } of running.splice(0)) {
      await service.close();
      await store.close();
    }
  }
  onTestFinished(stop);
  await start();

  let turn = 0;
  function next(): Instance {
    const instance = running[turn++ % running.length];
    if (!instance) throw new Error('The service does not run.');
    return instance;
  }
  const names = new Map(accounts.map(({ id }, index) => [`account-${index}`, id]));
  const filled = (text: string): string => text.replaceAll(/\{([a-z]+-\d)\}/g, (_, name: string) => names.get(name) ?? 'unknown');
  async function send({ account, request, path = {}, body, names: name }: Event): Promise<string> {
    const input = { path: JSON.parse(filled(JSON.stringify(path))), body: body && JSON.parse(filled(JSON.stringify(body))) };
    const { service } = next();
    const [method = '', url = ''] = request.split(' ');
    const received =
      account === undefined
        ? await injectedInto(service.operator)(operatorRequest(method, fillPath(url, input.path), OPERATOR_TOKEN, input.body))
        : await callOperation(injectedInto(service.app), request, { path: input.path, form: input.body }, accounts[account]?.apiKey ?? '');
    const { data, id } = received.body ?? {};
    if (name !== undefined && received.status < 300) names.set(name, String(id ?? data?.identifier ?? data?.handle));
    return `${request} ${received.status}`;
  }

  const dice = diceOf(seededRandom(seed, 'scenario'));
  const { events, edges, end } = scenarioOf(dice, Math.floor(START / 1000));
  const statuses: string[] = [];
  /** Within the second of an event, not at its begin. */
  const timeOf = ({ at }: Event): string => new Date(at * 1000 + (START % 1000)).toISOString();
  const ending: Event = { at: end, request: 'GET /due-work' };
  for (const [index, event] of [...events, ending].entries()) {
    if (way.time === 'stopped' && index % 3 === 1) {
      await stop();
      clock.advanceTo(timeOf(event));
      await start();
    }
    if (way.time === 'steps')
      for (const step of stepsBetween(clock.now() / 1000, event.at, edges)) {
        clock.advanceTo(new Date(step * 1000).toISOString());
        await next().service.runScheduledJobs();
      }
    clock.advanceTo(timeOf(event));
    await next().service.runScheduledJobs();
    for (const [position, id] of (await invoicesOf(next().store, accounts[0]?.id ?? '')).entries()) names.set(`invoice-${position}`, id);
    random = seededRandom(seed, `event ${index}`);
    statuses.push(await send(event));
  }
  return { statuses, ...(await amountsIn(next().store, names)) };
}

/** The identifiers of the first invoices of an account. */
function invoicesOf(store: Store, accountId: string): Promise<string[]> {
  return store.read(async (db) => {
    const invoices = db.selectFrom('invoices').select('id').where('account_id', '=', accountId).where('number', 'is not', null);
    return (await invoices.orderBy('period_start').limit(9).execute()).map(({ id }) => id);
  });
}

/** Nine days and a bit. */
const LONGEST_STEP = 789_013;

function stepsBetween(from: number, to: number, edges: readonly number[]): number[] {
  const steps = edges.flatMap((edge) => [edge - 1, edge, edge + 1]);
  for (let step = from + LONGEST_STEP; step < to; step += LONGEST_STEP) steps.push(Math.floor(step));
  return [...new Set(steps)].filter((step) => step > from && step < to).toSorted((one, other) => one - other);
}

/** The tables of amounts, and their columns that are not identifiers or times of the machine. */
const TABLES = {
  accounts: ['name', 'credit_limit', 'balance', 'balance_credit', 'unpaid', 'held', 'period_start'],
  invoices: ['account_id', 'created', 'period_start', 'period_end', 'total', 'credited', 'paid', 'status', 'number'],
  issued_documents: ['account_id', 'kind', 'number', 'issued', 'due', 'net', 'vat', 'content'],
  payments: ['account_id', 'kind', 'name', 'amount', 'unused'],
  charges: ['account_id', 'kind', 'subject', 'type', 'start', 'stop', 'amount'],
  positions: ['account_id', 'vm_id', 'number', 'type', 'start', 'stop', 'monthly_price', 'hold'],
  audit_records: ['operation', 'target', 'state_before', 'state_after'],
} as const;

/** Identifiers in texts are random. */
const IDENTIFIER = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** A row whose document, if it has one, is as it was before its lines were compressed. */
async function withReadableLines<Row extends object>(row: Row): Promise<Row> {
  if (!('content' in row)) return row;
  return { ...row, content: JSON.stringify(await contentOf(storedContentOf({ content: String(row.content) }))) };
}

async function amountsIn(store: Store, names: ReadonlyMap<string, string>): Promise<Record<string, string[]>> {
  const known = new Map([...names].map(([name, id]) => [id, name]));
  const renamed = (value: unknown): string =>
    String(known.get(String(value)) ?? value).replaceAll(IDENTIFIER, (id) => known.get(id) ?? '(an identifier)');
  const vms = [...names].filter(([name]) => name.startsWith('vm-'));
  const withoutVms = (text: string): string => vms.reduce((all, [name, id]) => all.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), name), text);
  return store.read(async (db) => {
    const result: Record<string, string[]> = {};
    for (const [table, columns] of [
      ['accounts', TABLES.accounts],
      ['invoices', TABLES.invoices],
      ['issued_documents', TABLES.issued_documents],
      ['payments', TABLES.payments],
      ['charges', TABLES.charges],
      ['positions', TABLES.positions],
      ['audit_records', TABLES.audit_records],
    ] as const) {
      const rows = await Promise.all((await db.selectFrom(table).selectAll().execute()).map(withReadableLines));
      result[table] = rows.map((row) => withoutVms(columns.map((column) => renamed(Reflect.get(row, column))).join(' | '))).toSorted();
    }
    return result;
  });
}
