/** Adds and removes the records that prove the control of a domain, through the reseller API. The ACME client lego starts it. */
import { Resolver } from 'node:dns/promises';
import { setTimeout as wait } from 'node:timers/promises';

const [, , action, name, data] = process.argv;
const { BASE_URL, API_KEY, DOMAIN, DNS_PORT } = process.env;
const headers = { 'X-SERVICE-APIKEY': API_KEY };

async function call(method, path, form) {
  const response = await fetch(`${BASE_URL}${path}`, { method, headers, ...(form && { body: new URLSearchParams(form) }) });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()).data;
}

if (action === 'present') {
  const sub = name.slice(0, -`.${DOMAIN}.`.length);
  await call('PUT', `/domain/${DOMAIN}/dns/add`, { type: 'TXT', sub, data, ttl: '60' });
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${DNS_PORT}`]);
  // The service publishes the zone within a second.
  for (;;) {
    const found = await resolver.resolveTxt(name.slice(0, -1)).catch(() => []);
    if (found.some((parts) => parts.join('') === data)) break;
    await wait(50);
  }
} else {
  for (const { record_id, data: known } of await call('GET', `/domain/${DOMAIN}/dns/list`))
    if (known === data) await call('DELETE', `/domain/${DOMAIN}/dns/${record_id}/remove`);
}
