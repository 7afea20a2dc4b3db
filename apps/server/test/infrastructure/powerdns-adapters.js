/** An adapter module as a provider writes it: zones go to PowerDNS. */
import { powerDns } from '@reseller/adapters/powerdns';

export function createAdapters({ serviceId, fence }) {
  const { POWERDNS_URL: url = '', POWERDNS_API_KEY: apiKey = '' } = process.env;
  return { dns: powerDns({ url, apiKey, serviceId, fence }) };
}
