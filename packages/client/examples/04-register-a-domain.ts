/** Creates a contact and registers a domain for it. */
import { createReseller } from '@reseller/client';

const reseller = createReseller({ environment: 'sandbox' });

const prices = await reseller.domain.pricings();
console.log('a .net domain costs', prices['net']?.price_net.create, 'EUR net');

const { handle } = await reseller.domain.handle.create({
  gender: 'MALE',
  firstname: 'Jonas',
  lastname: 'Beispiel',
  street: 'Musterweg',
  number: '7',
  zipcode: '60311',
  city: 'Frankfurt',
  region: 'Hessen',
  countrycode: 'DE',
  email: 'jonas@reseller-customer.net',
  phone: '+49.6955501234',
});
const { domain } = await reseller.domain.register({ domain: 'reseller-customer-example.net', handle });
console.log(domain.name, domain.status);
