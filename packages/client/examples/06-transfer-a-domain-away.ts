/** Fetches the auth code that another provider needs to take a domain over. */
import { createReseller } from '@reseller/client';

const reseller = createReseller({ environment: 'sandbox' });

const [domain] = await reseller.domain.list();
if (domain === undefined) console.log('no domain yet');
else {
  const { authcode } = await reseller.domain.requestAuthcode(domain);
  console.log(`the auth code of ${domain} has ${authcode.length} characters`);
}
