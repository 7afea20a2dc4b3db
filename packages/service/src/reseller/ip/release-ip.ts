import { vatAt } from '../../core/accounting/account-vat.ts';
import { releaseIp as delivery } from '../../core/vm/ip-deliveries.ts';
import type { IpRelease, PricedVm } from '../../core/vm/ip-deliveries.ts';
import type { DeliveredOperation } from '../operation.ts';
import { toPricings } from '../vm/vm-resources.ts';

/** DELETE /ip/{ip_address}/release */
export const releaseIp: DeliveredOperation<'releaseIp', IpRelease, PricedVm> = {
  kind: 'delivered',
  deliveryFor: () => delivery,
  requestOf: ({ runtime, accountId, spender, path, form }) => ({
    runtime,
    accountId,
    spender,
    address: path.ip_address,
    maxPrice: form.max_price,
  }),
  async success({ vmId, price }, { accountId, path: { ip_address }, now }, { db }) {
    return {
      message: `The VM ${vmId} gives up the address ${ip_address}.`,
      data: { ip_address, vmid: vmId, pricings: toPricings(price, await vatAt(db, accountId, now)) },
    };
  },
};
