import { createReseller } from '@reseller/client';

const reseller = createReseller({ environment: 'sandbox' });
const form = { cores: 2, mem: 4096, disk: 40, os: 'debian_12', hostsystem: 'nl_ryzen' };
const vm = await reseller.vm.create(form, { idempotencyKey: 'order-4711' });
console.log(`VM ${vm.identifier}`);
