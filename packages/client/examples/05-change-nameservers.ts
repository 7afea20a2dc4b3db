/** Moves a domain to other nameservers. The call can be repeated without harm, and the client does so when a response is lost. */
import { createReseller } from '@reseller/client';

const reseller = createReseller({ environment: 'sandbox' });

const [domain] = await reseller.domain.list();
if (domain === undefined) console.log('no domain yet');
else {
  const { ns1, ns2 } = await reseller.domain.setNameservers(domain, { ns1: 'ns1.reseller-customer.net', ns2: 'ns2.reseller-customer.net' });
  console.log(domain, 'uses', ns1, 'and', ns2);
}
