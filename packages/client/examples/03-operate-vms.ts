/** The day of a panel: restarts a VM, resizes it, and lists all VMs with their states. */
import { createReseller } from '@reseller/client/extension';

const reseller = createReseller({ environment: 'sandbox' });

const { identifier } = await reseller.vm.create({ cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'nl_ryzen' });
await reseller.vm.power(identifier, { mode: 'restart' });
const { price } = await reseller.vm.quoteChange(identifier, { cores: 2 });
await reseller.vm.change(identifier, { cores: 2, max_price: price.net });
await reseller.ip.buy({ vmid: identifier });
for (const { vmid, status } of (await reseller.vm.list()).list) console.log(vmid, status);
await reseller.vm.delete(identifier);
