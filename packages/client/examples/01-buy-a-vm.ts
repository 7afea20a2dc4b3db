/** Buys the smallest VM that a host system offers, and prints how to log in. */
import { createReseller } from '@reseller/client';

const reseller = createReseller({ environment: 'sandbox' });

const [host] = await reseller.vm.hosts();
if (!host) throw new Error('The provider offers no host system.');
const { cores, mem, disk } = host.configuration;

const vm = await reseller.vm.create({
  cores: cores.min,
  mem: mem.min,
  disk: disk.min,
  os: 'debian_12',
  hostsystem: host.name,
  hostname: 'web-1.reseller-customer.net',
});
// The password is returned once. Store it now.
console.log(`ssh ${vm.config.username}@${vm.config.ipv4[0]?.address}, password of ${vm.config.password.length} characters`);
