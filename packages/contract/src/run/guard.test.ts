import bundle from '@reseller/openapi/openapi.json' with { type: 'json' };
import { beforeEach, describe, expect, test } from 'vitest';

import { parseDocument } from '../document/document.ts';
import { readOperations } from '../document/operations.ts';
import { NOTHING_GIVEN } from '../document/parameters.ts';
import { createValidator } from '../document/validator.ts';
import { createGuard, RefusedRequestError } from './guard.ts';
import type { Guard } from './guard.ts';
import { Ownership } from './ownership.ts';
import { countRequests, makePlan, MAX_READ_ONLY_REQUESTS } from './plan.ts';
import type { Plan } from './plan.ts';
import type { Mode } from './planning.ts';
import { NO_BUDGET } from './price.ts';
import type { Budget, Price } from './price.ts';
import { runContract } from './run.ts';

const operations = readOperations(bundle);
const validator = createValidator(bundle);
const KEY = 'key-of-the-account';
const TARGET = new URL('http://target.example/base/');

function naming(...only: readonly string[]): Map<string, string | undefined> {
  return new Map(only.map((word) => [word.split('=')[0] ?? '', word.split('=')[1]]));
}

function plan(mode: Mode, ...only: readonly string[]): Plan {
  names = naming(...only);
  return makePlan({
    document: bundle,
    operations,
    validator,
    mode,
    only: names,
    seed: 1,
    given: NOTHING_GIVEN,
    orphans: [],
    extensions: [],
    also: new Map(),
    unusable: new Map(),
  });
}

let sent: string[];
let status: number;
/** The names in the latest plan. */
let names: Map<string, string | undefined>;
let ownership: Ownership;

function guardFor({ steps }: Plan, budget: Budget = NO_BUDGET, price?: Price): Guard {
  ownership = new Ownership({ document: bundle, operations, validator, naming: { names, given: NOTHING_GIVEN } });
  return createGuard({
    steps,
    refusal: (step, path) => ownership.refusal(step, path),
    target: TARGET,
    budget,
    priceOf: () => price,
    keyOf: (credential) => (credential === 'account' ? KEY : credential === 'wrong' ? 'wrong' : undefined),
    send: async ({ method, url }) => {
      sent.push(`${method} ${new URL(url).pathname}`);
      return new Response(null, { status });
    },
  });
}

function request(method: string, path: string, body?: string): Request {
  return new Request(new URL(path, TARGET), {
    method,
    redirect: 'manual',
    headers: { 'X-SERVICE-APIKEY': KEY },
    ...(body === undefined ? {} : { body }),
  });
}

beforeEach(() => {
  sent = [];
  status = 200;
});

describe('the read-only plan', () => {
  test('calls all read-only operations, and has the reasons for the others', () => {
    const { steps, withheld } = plan('read-only');
    expect(new Set(steps.map(({ effect }) => effect))).toEqual(new Set(['reads']));
    expect(withheld.get('createVm')).toContain('costs money');
    expect(withheld.get('generateOtp')).toContain('changes state');
    const called = new Set(steps.filter(({ purpose }) => purpose === 'call').map(({ operation }) => operation.id));
    expect(called).toEqual(new Set(operations.filter(({ readOnly }) => readOnly).map(({ id }) => id)));
  });

  test('sends only an undescribed GET to operations that change something', () => {
    const { steps } = plan('read-only');
    const writing = steps.filter(({ operation }) => !operation.readOnly);
    expect(writing.length).toBeGreaterThan(0);
    expect(new Set(writing.map(({ method, form }) => `${method} ${form}`))).toEqual(new Set(['GET undefined']));
  });

  test('sends no more than five requests for each operation', () => {
    const { steps } = plan('read-only');
    // A third identifier replaces a probe, so the steps of an operation may list one request more than the limit.
    const listed = operations.map(({ id }) =>
      steps.filter(({ operation }) => operation.id === id).reduce((sum, step) => sum + step.times, 0),
    );
    expect(Math.max(...listed)).toBe(MAX_READ_ONLY_REQUESTS + 1);
    expect(countRequests(steps, 'read-only')).toBeLessThanOrEqual(MAX_READ_ONLY_REQUESTS * operations.length);
  });
});

describe('the full plan', () => {
  test('omits operations that cost money or cannot be undone until they are named', () => {
    const { steps, withheld } = plan('full');
    expect(steps.filter(({ effect }) => effect === 'costs')).toEqual([]);
    expect(withheld.get('createVm')).toBe('it costs money; add it with --also createVm');
    expect(withheld.get('reinstallVm')).toContain('it changes what this run does not make');
    // The run makes no server.
    expect(steps.filter(({ effect }) => effect !== 'reads')).toEqual([]);
  });

  test('includes the undo operation of a named operation, and the reads that find identifiers', () => {
    const { steps } = plan('full', 'deleteDedicatedServer');
    const changing = new Set(steps.filter(({ effect }) => effect !== 'reads').map(({ operation }) => operation.id));
    expect(changing).toEqual(new Set(['deleteDedicatedServer', 'undeleteDedicatedServer']));
    expect(steps.some(({ operation, purpose }) => operation.id === 'listDedicatedServers' && purpose === 'call')).toBe(true);
  });

  test('breaks each rule of a query parameter where the operation changes something, but not where it costs money', async () => {
    const responses = { 200: { description: 'Done.' } };
    const parameters = [
      { name: 'keep', in: 'query', required: true, schema: { type: 'integer', minimum: 1, maximum: 9 }, example: 3 },
      { name: 'wait', in: 'query', schema: { type: 'boolean' } },
    ];
    const document = parseDocument({
      openapi: '3.1.0',
      info: { title: 'A', version: '1' },
      paths: {
        '/thing': { post: { operationId: 'makeThing', parameters, responses } },
        '/thing/{id}': {
          delete: {
            operationId: 'deleteThing',
            parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }, ...parameters],
            responses,
          },
        },
        '/buy': { post: { operationId: 'buy', 'x-billable': true, parameters, responses } },
      },
    });
    const { steps } = makePlan({
      document,
      operations: readOperations(document),
      validator: createValidator(document),
      mode: 'full',
      only: new Map([
        ['makeThing', undefined],
        ['deleteThing', undefined],
        ['buy', undefined],
      ]),
      also: new Map(),
      seed: 1,
      given: NOTHING_GIVEN,
      orphans: [],
      extensions: [],
      unusable: new Map(),
    });
    const broken = steps.filter(({ purpose }) => purpose === 'invalid-parameter');
    const of = (id: string) => broken.filter(({ operation }) => operation.id === id);
    for (const id of ['makeThing', 'deleteThing']) {
      expect(
        of(id)
          .map(({ detail }) => detail)
          .toSorted(),
      ).toEqual([
        'the query parameter keep above its maximum',
        'the query parameter keep as a word instead of a number',
        'the query parameter keep below its minimum',
        'the query parameter wait as a word instead of true or false',
        'without the required query parameter keep',
      ]);
      expect(new Set(of(id).map(({ effect, phase, times }) => `${effect} ${phase} ${times}`))).toEqual(new Set(['changes 7 1']));
    }
    expect(of('deleteThing').map(({ path }) => path)).toEqual(Array(5).fill('own'));
    expect(of('buy')).toEqual([]);
    // The requests of the plan leave, and a service that accepts them is reported.
    const requests: string[] = [];
    const { findings } = await runContract({
      document,
      target: new URL('http://target.example'),
      mode: 'full',
      only: new Map([['makeThing', undefined]]),
      journal: { record: async () => {}, open: async () => [] },
      send: async ({ method, url }) => {
        requests.push(`${method} ${url.replace('http://target.example', '')}`);
        return new Response(null, { status: 200 });
      },
    });
    for (const query of ['', '?keep=0', '?keep=10', '?keep=many', '?keep=3&wait=perhaps', '?keep=3'])
      expect(requests).toContain(`POST /thing${query}`);
    const accepted = findings.filter(({ check }) => check === 'parameter-refused');
    expect(accepted).toHaveLength(5);
  });

  test('is the same for the same seed, and has invalid forms in another order for another seed', () => {
    const details = (seed: number) =>
      makePlan({
        document: bundle,
        operations,
        validator,
        mode: 'full',
        only: new Map([['createVm', undefined]]),
        seed,
        given: NOTHING_GIVEN,
        orphans: [],
        extensions: [],
        also: new Map(),
        unusable: new Map(),
      })
        .steps.filter(({ purpose }) => purpose === 'invalid-form')
        .map(({ detail }) => detail);
    expect(details(1)).toEqual(details(1));
    expect(details(1)).not.toEqual(details(2));
    expect(details(1).toSorted()).toEqual(details(2).toSorted());
  });
});

describe('the guard', () => {
  test('limits the requests of one operation', async () => {
    const { steps } = plan('read-only');
    const guard = createGuard({
      steps: steps.flatMap((step) => [step, step, step]),
      refusal: () => undefined,
      target: TARGET,
      budget: NO_BUDGET,
      priceOf: () => undefined,
      keyOf: () => KEY,
      mostPerOperation: 2,
      send: async ({ method, url }) => {
        sent.push(`${method} ${new URL(url).pathname}`);
        return new Response(null, { status });
      },
    });
    await guard.send(request('GET', 'domain/list'));
    await guard.send(request('GET', 'domain/list'));
    await expect(guard.send(request('GET', 'domain/list'))).rejects.toThrow('2 requests were sent for listDomains; no more may leave.');
    await guard.send(request('GET', 'domain/pricings'));
    expect(sent).toHaveLength(3);
  });

  test('sends the planned requests, as often as planned', async () => {
    const guard = guardFor(plan('read-only'));
    await guard.send(request('GET', 'domain/list'));
    await guard.send(request('POST', 'account/requests', 'offset=50'));
    expect(sent).toHaveLength(2);
    await expect(guard.send(request('GET', 'domain/list'))).rejects.toThrow(RefusedRequestError);
  });

  test.each([
    ['a method that makes a purchase', 'PUT', 'vm/create', undefined],
    ['a path that only looks like an identifier', 'DELETE', 'dedicated/x/../7/delete', undefined],
    ['a path that leaves the base address', 'GET', '../domain/list', undefined],
    ['a path that is not an operation', 'GET', 'nothing', undefined],
    ['another origin', 'GET', 'http://other.example/base/domain/list', undefined],
    ['another port', 'GET', 'http://target.example:81/base/domain/list', undefined],
    ['a form that the plan does not have', 'POST', 'account/requests', 'offset=51'],
    ['an operation that changes something', 'POST', 'account/otp', undefined],
  ])('refuses %s', async (_, method, path, body) => {
    await expect(guardFor(plan('read-only')).send(request(method, path, body))).rejects.toThrow(RefusedRequestError);
    expect(sent).toEqual([]);
  });

  test('refuses requests that follow redirects, and keys that the step does not have', async () => {
    const guard = guardFor(plan('read-only'));
    await expect(guard.send(new Request(new URL('domain/list', TARGET), { headers: { 'X-SERVICE-APIKEY': KEY } }))).rejects.toThrow(
      RefusedRequestError,
    );
    await expect(
      guard.send(new Request(new URL('domain/list', TARGET), { redirect: 'manual', headers: { 'X-SERVICE-APIKEY': 'another' } })),
    ).rejects.toThrow(RefusedRequestError);
    expect(sent).toEqual([]);
  });

  test('allows changes only of resources that the run created or that were named', async () => {
    const other = 'dedicated/7c9e6679-7425-40de-944b-e07fc1f90ae7/delete';
    await expect(guardFor(plan('full')).send(request('DELETE', other))).rejects.toThrow(RefusedRequestError);
    const unnamed = guardFor(plan('full', 'deleteDedicatedServer'));
    await expect(unnamed.send(request('DELETE', other))).rejects.toThrow('this run did not make it, and the user did not name it');
    const named = guardFor(plan('full', 'deleteDedicatedServer=7c9e6679-7425-40de-944b-e07fc1f90ae7'));
    await named.send(request('DELETE', other));
    await expect(named.send(request('DELETE', 'dedicated/7c9e6679-7425-40de-944b-e07fc1f90ae8/delete'))).rejects.toThrow(
      RefusedRequestError,
    );
    expect(sent).toHaveLength(1);
  });

  test('refuses a query that is not in the plan', async () => {
    const guard = guardFor(plan('read-only'));
    await expect(guard.send(request('GET', 'domain/list?delete=all'))).rejects.toThrow(RefusedRequestError);
    await guard.send(request('GET', 'domain/list'));
    expect(sent).toHaveLength(1);
  });

  test('enforces the budget, and restores it only after a refusal', async () => {
    const all = plan('full', 'createVm');
    const bodies = all.steps.filter(({ operation, effect }) => operation.id === 'createVm' && effect === 'costs').length;
    expect(bodies).toBeGreaterThan(2);
    const form = 'cores=2&mem=4096&disk=40&os=debian_12&hostsystem=nl_ryzen';
    await expect(guardFor(all).send(request('PUT', 'vm/create', form))).rejects.toThrow('no more than 0 purchases of unknown price');
    const guard = guardFor(all, { amount: 0n, unknown: 1 });
    status = 422;
    await guard.send(request('PUT', 'vm/create', form));
    expect(guard.spent()).toEqual(NO_BUDGET);
  });

  test('enforces the budget to the smallest unit', async () => {
    const all = plan('full', 'createVm');
    const form = 'cores=2&mem=4096&disk=40&os=debian_12&hostsystem=nl_ryzen';
    const price = { net: 840_000_000n, gross: 1_000_000_001n, basis: 'a month' };
    const buy = (amount: bigint): { guard: Guard; sent: Promise<Response> } => {
      const guard = guardFor(all, { amount, unknown: 0 }, price);
      return { guard, sent: guard.send(request('PUT', 'vm/create', form)) };
    };
    await expect(buy(1_000_000_000n).sent).rejects.toThrow('the budget of 10.00 would not suffice');
    expect(sent).toEqual([]);
    const bought = buy(1_000_000_001n);
    await bought.sent;
    expect(bought.guard.spent()).toEqual({ amount: 1_000_000_001n, unknown: 0 });
  });
});
