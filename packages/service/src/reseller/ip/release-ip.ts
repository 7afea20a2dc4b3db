import { vatAt } from '../../core/accounting/account-vat.ts';
import { releaseIp as release } from '../../core/vm/ip-deliveries.ts';
import type { PricedVm } from '../../core/vm/ip-deliveries.ts';
import type { DeliveredOperation } from '../operation.ts';
import { toPricings } from '../vm/vm-resources.ts';

/** DELETE /ip/{ip_address}/release */
export const releaseIp: DeliveredOperation<'releaseIp', PricedVm> = {
  kind: 'delivered',
  deliver: (steps, { runtime, accountId, spender, path: { ip_address: address }, form: { max_price: maxPrice } }) =>
    release(steps, { runtime, accountId, spender, address, maxPrice }),
  async success({ vmId, price }, { accountId, path: { ip_address }, now }, { db }) {
    return {
      message: `The VM ${vmId} gives up the address ${ip_address}.`,
      data: { ip_address, vmid: vmId, pricings: toPricings(price, await vatAt(db, accountId, now)) },
    };
  },
};
