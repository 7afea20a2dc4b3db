import { vatAt } from '../../core/accounting/account-vat.ts';
import { lastIpv4Of } from '../../core/vm/addresses.ts';
import { buyIps as buy } from '../../core/vm/ip-deliveries.ts';
import { assertMoreIps, vmOfForm } from '../../core/vm/own-ips.ts';
import { quotedResize } from '../../core/vm/quote-resize.ts';
import { DEFAULTS } from '../../generated/facts.gen.ts';
import { counted } from '../../rules/counted.ts';
import type { Money } from '../../rules/money.ts';
import type { DeliveredOperation, ReadOperation } from '../operation.ts';
import { quoteSuccess } from '../quote-success.ts';
import { toPricings } from '../vm/vm-resources.ts';

/** PUT /ip/buy */
export const buyIps: DeliveredOperation<'buyIps', Money> = {
  kind: 'delivered',
  deliver(steps, { runtime, accountId, spender, form }) {
    const { vmid, count, allowFallbackIPs, max_price: maxPrice } = { ...DEFAULTS.BuyIpsForm, ...form };
    return buy(steps, { runtime, accountId, spender, vmid, count, allowFallbackIPs, maxPrice });
  },
  async success(monthly, { accountId, form, now }, { db }) {
    const { vmid, count } = { ...DEFAULTS.BuyIpsForm, ...form };
    const { id, changing } = await vmOfForm(db, accountId, vmid);
    const bought = await lastIpv4Of(db, id, count);
    const added = counted(bought.length, 'further address', 'further addresses');
    return {
      message:
        changing === 0
          ? `The VM has ${added}.`
          : `The VM is getting ${added}. GET /ip/list shows ${count === 1 ? 'it' : 'them'} when the VM has ${count === 1 ? 'it' : 'them'}.`,
      data: {
        vmid: id,
        list: bought.map(({ address, gateway, ddosProtection }) => ({ ip_address: address, gateway, ddos_protection: ddosProtection })),
        pricings: toPricings(monthly, await vatAt(db, accountId, now)),
      },
      bought: { kind: 'vm', subject: String(id), price: Number(monthly) },
    };
  },
};

/** POST /ip/buy/quote */
export const quoteBuyIps: ReadOperation<'quoteBuyIps'> = {
  kind: 'read',
  settles: true,
  async run(db, { accountId, form, now }) {
    const { vmid, count } = { ...DEFAULTS.BuyIpsForm, ...form };
    const vm = await vmOfForm(db, accountId, vmid);
    await assertMoreIps(db, vm, count);
    return quoteSuccess(db, await quotedResize(db, vm, { resources: { ips: vm.ips + count }, now }), { accountId, now });
  },
};
