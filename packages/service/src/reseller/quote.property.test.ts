/** A purchase needs and takes the amounts that its quote names, also after prices have changed. */
import * as operator from '@reseller/operator-client';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { amountOf } from '../../../../.config/depth.ts';
import { goodCall } from '../../test/good-calls.ts';
import type { Owner } from '../../test/good-calls.ts';
import type { Sent } from '../../test/http-client.ts';
import { startOperator } from '../../test/operator.ts';
import type { TestOperator } from '../../test/operator.ts';
import { apiOperations } from '../http/reseller/api.ts';
import type { OperationId } from './operation.ts';

const RUNS = amountOf('PROPERTY_RUNS', { usual: 2, deep: 40 });
/** EUR. */
const AMPLE_CREDIT = 100_000;

/** A purchase, and its quote. */
interface Quoted {
  readonly id: OperationId;
  readonly quote: OperationId;
  /** The request of the quote, if it is not that of the purchase. */
  readonly asked?: (service: TestOperator, owner: Owner, sent: Sent) => Promise<Sent>;
}

const purchases: Quoted[] = apiOperations
  .filter(({ operation }) => operation.billable)
  .flatMap(({ id, operation }) => {
    const quote = apiOperations.find((other) => other.operation.path === `${operation.path}/quote`)?.id;
    return quote === undefined ? [] : [{ id, quote }];
  });

/** A released address is a change to one address less. */
const release: Quoted = {
  id: 'releaseIp',
  quote: 'quoteChangeVm',
  async asked(service, { apiKey }, { path }) {
    const list: { ip_address: string; vmid: number; family: number }[] = (await service.call('listIps', { apiKey })).body.data.list;
    const vmid = list.find(({ ip_address }) => ip_address === path?.['ip_address'])?.vmid;
    const ips = list.filter((one) => one.vmid === vmid && one.family === 4).length - 1;
    return { path: { vmid: String(vmid) }, form: { ips }, apiKey };
  },
};

/** Half cents and eight decimals, in EUR. */
const price = fc.oneof(
  fc.integer({ min: 0, max: 150 }).map((whole) => ((2 * whole + 1) / 200).toFixed(3)),
  fc.integer({ min: 1, max: 150_000_000 }).map((units) => (units / 1e8).toFixed(8)),
);

const changed = fc.record({
  vm: fc.record({ core: price, mem: price, nvme: price, hdd: price, extra_ip: price, extra_backup_slot: price, extra_gbit: price }),
  tld: fc.record({ create: price, renew: price, transfer: price }),
  /** Up to the last second of the month of the purchases. */
  seconds: fc.integer({ min: 0, max: 20 * 86_400 }),
});

test.each([...purchases, release])(
  '$id needs the credit that its quote names and not a cent less, takes it, and costs no unit less than the quoted price',
  async ({ id, quote, asked }) => {
    await fc.assert(
      fc.asyncProperty(changed, async ({ vm, tld, seconds }) => {
        const service = await startOperator({ creditLimit: '0.00' });
        const owner = await service.account(`${AMPLE_CREDIT}.00`);
        const { apiKey } = owner;
        const sent = await goodCall(service, id, owner);
        service.clock.advance(seconds * 1000);
        for (const hostsystem of ['nl_ryzen', 'de_epyc'])
          await operator.scheduleHostSystemPrices({
            client: service.client,
            path: { hostsystem },
            body: { prices: vm, applies_to: 'new_purchases' },
          });
        await operator.setTldPrice({ client: service.client, path: { tld: 'net' }, body: tld });

        const question = asked ? await asked(service, owner, sent) : sent;
        const quoted = (await service.call(quote, question)).body.data;
        const needed = cents(quoted.neededCredit);
        expect(needed).toBeGreaterThanOrEqual(0);
        const taken = AMPLE_CREDIT * 100 - (await remaining(service, apiKey));
        if (needed > 0) {
          await limitTo(service, owner, taken + needed - 1);
          const refused = await service.call(id, sent);
          expect([refused.status, refused.body.message]).toEqual([
            402,
            expect.stringContaining(`needs ${(needed / 100).toFixed(2)} EUR of the credit limit,`),
          ]);
        }
        await limitTo(service, owner, taken + needed);
        const form = sent.form as { max_price?: string } | undefined;
        const guarded = (max_price: string) => ({ ...sent, form: { ...form, max_price } });
        const takesGuard = id === 'releaseIp' || form?.max_price !== undefined;
        const net: string = quoted.price.net.toFixed(8);
        if (takesGuard) expect((await service.call(id, guarded(unitLess(net)))).status).toBe(412);
        const bought = await service.call(id, takesGuard ? guarded(net) : sent);
        expect([bought.status, bought.body.message]).toEqual([200, expect.anything()]);
        const left = await remaining(service, apiKey);
        // A changed VM ends a position, whose cost is rounded up to a unit. What lowers the estimate of the month needs nothing.
        if (needed > 0) expect([0, 1]).toContain(left);
        else expect(left).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: RUNS },
    );
  },
);

/** @param net EUR with eight decimals. */
function unitLess(net: string): string {
  const units = BigInt(net.replace('.', '')) - 1n;
  const digits = units.toString().padStart(9, '0');
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`;
}

function cents(amount: number): number {
  return Math.round(amount * 100);
}

async function remaining(service: TestOperator, apiKey: string): Promise<number> {
  return cents((await service.call('getCredit', { apiKey })).body.data.remaining);
}

async function limitTo({ client }: TestOperator, { id }: Owner, limit: number): Promise<void> {
  await operator.setCreditLimit({ client, path: { account_id: id }, body: { credit_limit: (limit / 100).toFixed(2) } });
}
