import { vatAt } from '../../core/accounting/account-vat.ts';
import { vmSubject } from '../../core/vm/identifier.ts';
import { assignIp as assign } from '../../core/vm/ip-deliveries.ts';
import type { MovedIp } from '../../core/vm/ip-deliveries.ts';
import { assertAssignable, findExtraIp, vmOfForm } from '../../core/vm/own-ips.ts';
import { quotedMove } from '../../core/vm/quote-resize.ts';
import type { DeliveredOperation, ReadOperation } from '../operation.ts';
import { quoteSuccess } from '../quote-success.ts';
import { toPricings } from '../vm/vm-resources.ts';

/** POST /ip/{ip_address}/assign */
export const assignIp: DeliveredOperation<'assignIp', MovedIp> = {
  kind: 'delivered',
  deliver: (steps, { runtime, accountId, spender, path: { ip_address: address }, form: { vmid, max_price: maxPrice } }) =>
    assign(steps, { runtime, accountId, spender, address, vmid, maxPrice }),
  async success({ source, target }, { accountId, path: { ip_address }, now }, { db }) {
    const vat = await vatAt(db, accountId, now);
    return {
      message: `The address ${ip_address} belongs to the VM ${target.vmId}, which has it within seconds.`,
      data: {
        ip_address,
        vmid: target.vmId,
        pricings: toPricings(target.price, vat),
        from_vmid: source.vmId,
        from_pricings: toPricings(source.price, vat),
      },
      bought: { kind: 'vm', subject: String(target.vmId), price: Number(source.price + target.price) },
      enqueued: vmSubject(target),
    };
  },
};

/** POST /ip/{ip_address}/assign/quote */
export const quoteAssignIp: ReadOperation<'quoteAssignIp'> = {
  kind: 'read',
  settles: true,
  async run(db, { accountId, path, form, now }) {
    const { vm: from } = await findExtraIp(db, accountId, path.ip_address);
    const to = await vmOfForm(db, accountId, form.vmid);
    await assertAssignable(db, from, to);
    return quoteSuccess(db, await quotedMove(db, { from, to, now }), { accountId, now });
  },
};
