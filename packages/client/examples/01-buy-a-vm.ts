/** Buys the smallest VM that a host system offers at the price that was shown, and prints how to log in. */
import { createReseller, PriceTooHighError } from '@reseller/client/extension';

const reseller = createReseller({ environment: 'sandbox' });

const [host] = await reseller.vm.hosts();
if (!host) throw new Error('The provider offers no host system.');
const { cores, mem, disk } = host.configuration;
const form = { cores: cores.min, mem: mem.min, disk: disk.min, os: 'debian_12', hostsystem: host.name };

const { price } = await reseller.vm.quoteCreate(form);
try {
  const vm = await reseller.vm.create({ ...form, hostname: 'web-1.reseller-customer.net', max_price: price.net });
  // The password is returned once. Store it now.
  console.log(`ssh ${vm.config.username}@${vm.config.ipv4[0]?.address}, password of ${vm.config.password.length} characters`);
} catch (error) {
  if (!(error instanceof PriceTooHighError)) throw error;
  console.log('not bought: it costs', error.price, 'EUR, and', error.maxPrice, 'EUR were accepted');
}
