/** An account can read and change only its own data. The operations come from the document, so that a new one is covered or fails. */
import { expect, test } from 'vitest';

import { apiOperations } from '../src/http/reseller/api.ts';
import type { OperationId } from '../src/reseller/operation.ts';
import { contentsOf } from './contents.ts';
import { EPYC } from './dedicated.ts';
import { goodCall } from './good-calls.ts';
import { sharedService, startService } from './harness.ts';
import type { TestService } from './harness.ts';
import type { Received, Sent } from './http-client.ts';
import { apiOf, lists, pathParametersOf, withPath } from './operations.ts';
import { providerOf } from './provider.ts';

const customer = sharedService();

/** Well-formed identifiers that do not exist, by the name of the path parameter. */
const UNKNOWN: ReadonlyMap<string, string> = new Map([
  ['vmid', '00000'],
  ['identifier', '01900000-0000-7000-8000-00000000ffff'],
  ['domain', 'no-such-domain.net'],
  ['record_id', '01900000-0000-7000-8000-00000000eeee'],
  ['handle', 'HDL-ABCDEFGHJKLM'],
  ['invoiceID', '01900000-0000-5000-8000-00000000ffff'],
  ['backup_id', '01900000-0000-7000-8000-00000000bbbb'],
  ['ip_address', '198.51.100.1'],
  ['ssh_key_id', '01900000-0000-7000-8000-00000000cccc'],
  ['key_id', '01900000-0000-7000-8000-00000000dddd'],
  ['webhook_id', '01900000-0000-7000-8000-00000000aaaa'],
  ['delivery_id', '12345'],
]);

/** The part of a response that must not depend on the object that was requested. */
function comparableParts({ status, headers, body }: Received): unknown {
  const { date: _date, ...others } = Object.fromEntries(headers);
  return { status, headers: others, body: { ...body, requestID: 'of this request' } };
}

function unknownPath(id: OperationId): Record<string, string> {
  return Object.fromEntries(
    pathParametersOf(apiOf(id)).map((name) => {
      const unknown = UNKNOWN.get(name);
      if (unknown === undefined) throw new Error(`The path parameter ${name} of ${id} is new: name an identifier here that nobody has.`);
      return [name, unknown];
    }),
  );
}

test('the document has operations with path parameters and lists, which the tests below need', () => {
  expect(withPath.length).toBeGreaterThanOrEqual(11);
  expect(lists.length).toBeGreaterThanOrEqual(10);
});

/** Whether a domain is registered is public: every account gets the same response. */
const PUBLIC: ReadonlySet<OperationId> = new Set(['checkDomain']);

test.each(withPath.filter((id) => !PUBLIC.has(id)))(
  "%s: another account's identifier gets the same 404 as an unknown one, and nothing changes",
  async (id) => {
    const service = await customer();
    const owner = await service.account();
    const stranger = await service.account();
    const sent = await goodCall(service, id, owner);
    // A read first performs the due jobs of its own account, even if it is then refused. The stranger's are performed here.
    await service.call('listInvoices', { apiKey: stranger.apiKey });
    const before = await contentsOf(service);
    const asStranger = (path: Sent['path']) => service.call(id, { ...sent, ...(path && { path }), apiKey: stranger.apiKey });
    const theirs = await asStranger(sent.path);
    const unknown = await asStranger(unknownPath(id));
    expect(theirs).toMatchObject({ status: 404, body: { type: 'not_found', data: null } });
    expect(comparableParts(theirs)).toEqual(comparableParts(unknown));
    expect(await contentsOf(service)).toEqual(before);
    // The owner can use it, so only the stranger gets 404.
    expect((await service.call(id, sent)).status).toBe(200);
    // The request of the owner does not change the response to the stranger.
    expect(comparableParts(await asStranger(sent.path))).toEqual(comparableParts(unknown));
  },
);

/**
 * The further identifiers of each request: below the resource in its path, such as that of a backup, or in its form, such as the handle of a new
 * domain. A delivery has its number in its webhook only, and any domain can be a reverse name.
 */
const named = apiOperations.flatMap((api) => {
  const inPath = pathParametersOf(api).slice(1);
  const inForm = Object.keys(Object(api.operation.form?.schema).properties ?? {}).filter((name) => UNKNOWN.has(name));
  const places = [...inPath.map((name) => ['path', name] as const), ...inForm.map((name) => ['form', name] as const)];
  return places.flatMap(([place, name]) => (name === 'delivery_id' || name === 'domain' ? [] : [[api.id, place, name] as const]));
});

test.each(named)('%s: the %s cannot name a %s of another account, and nothing changes', async (id, place, name) => {
  const service = await customer();
  const [owner, stranger] = [await service.account(), await service.account()];
  const [theirs, own] = [await goodCall(service, id, owner), await goodCall(service, id, stranger)];
  // Good orders name no stored SSH key.
  const foreign = theirs[place]?.[name] ?? (await goodCall(service, 'resetVmPassword', owner)).form?.[name];
  expect(foreign).toBeDefined();
  const before = await contentsOf(service);
  const { status } = await service.call(id, { ...own, [place]: { ...own[place], [name]: foreign } });
  expect([404, 422]).toContain(status);
  expect(await contentsOf(service)).toEqual(before);
  expect((await service.call(id, own)).status).toBe(200);
});

test.each([...PUBLIC])('%s: every account gets the same response', async (id) => {
  const service = await customer();
  const sent = await goodCall(service, id, await service.account());
  const stranger = await service.account();
  expect(comparableParts(await service.call(id, { ...sent, apiKey: stranger.apiKey }))).toEqual(
    comparableParts(await service.call(id, sent)),
  );
});

/** Lists of what is left of the provider's stock, which purchases of others change. */
const STOCK: ReadonlySet<OperationId> = new Set(['listDedicatedMarket', 'listAvailableIps']);

test('no list shows another account any data of an account that has each kind of resource', async () => {
  const { service, owner, marks } = await accountWithEverything();
  // Without this check, a list that is empty for everyone would pass. The owner must see the data that the stranger must not see.
  const seen = await Promise.all(lists.map(async (id) => textsOf((await service.call(id, { apiKey: owner.apiKey })).body.data)));
  for (const mark of ['For one account alone', 'looked-at.net', EPYC]) expect(seen.flat()).toContain(mark);

  const stranger = await service.account('500.00');
  const unused = await startService();
  unused.clock.advance(service.clock.now() - unused.clock.now());
  const { apiKey: first } = await unused.account('500.00');
  for (const id of ['listRequests', ...lists.filter((list) => list !== 'listRequests')] as const) {
    const { status, body } = await service.call(id, { apiKey: stranger.apiKey });
    expect(status).toBe(200);
    // The first account of an unused service sees nothing of anybody else.
    const alone = (await unused.call(id, { apiKey: first })).body.data;
    if (!STOCK.has(id)) expect.soft(withoutIdentifiers(body.data), id).toEqual(withoutIdentifiers(alone));
    // A number such as the identifier of a VM can also be a limit of a host system, which everybody sees.
    const seenByAll = new Set(textsOf(alone));
    const shown = textsOf(body.data).filter((text) => !seenByAll.has(text));
    const leaked = marks.filter((mark) => shown.some((text) => text === mark || (mark.length > 5 && text.includes(mark))));
    expect.soft(leaked, id).toEqual([]);
  }

  // The log shows only the stranger's own requests, including refused ones.
  await service.call('getDomain', { path: { domain: 'looked-at.net' }, apiKey: stranger.apiKey });
  const { body } = await service.call('listRequests', { apiKey: stranger.apiKey });
  expect(body.data).toHaveLength(lists.length + 1);
  expect(body.data[0]).toMatchObject({ endpoint: '/domain/looked-at.net/info', error_type: 'not_found' });
});

function withoutIdentifiers(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, 'an identifier'));
}

/** An account that has carried out every operation, and the values that only this account has. */
async function accountWithEverything(): Promise<{
  service: TestService;
  owner: { id: string; apiKey: string };
  marks: readonly string[];
}> {
  const service = await startService();
  const owner = await service.account('2000.00');
  const marks = new Set([owner.id, owner.apiKey, 'For one account alone']);
  await providerOf(service).createSale({ title: 'For one account alone', accountId: owner.id });
  for (const { id } of apiOperations) {
    const sent = await goodCall(service, id, owner);
    const { status, body } = await service.call(id, sent);
    expect([id, status]).toEqual([id, 200]);
    // Each webhook counts its deliveries from 1.
    const { delivery_id: _number, ...path } = sent.path ?? {};
    for (const value of [...Object.values(path), body.data?.identifier, body.data?.handle, body.data?.otp_code, body.requestID])
      if (typeof value === 'string' || typeof value === 'number') marks.add(String(value));
  }
  return { service, owner, marks: [...marks] };
}

/** Every name and every value of a response, as text. */
function textsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.entries(value).flatMap(([name, member]) => [name, ...textsOf(member)]);
}
