/** Reinstalls a VM with another operating system. Expect that everything on its disks is lost. */
import { createReseller } from '@reseller/client';

const reseller = createReseller({ environment: 'sandbox' });

const { identifier } = await reseller.vm.create({ cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'nl_ryzen' });
const { message } = await reseller.vm.reinstall(identifier, { os: 'debian_12' }, { timeoutMs: 120_000 }).withMeta();
console.log(message);
