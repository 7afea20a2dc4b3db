/** Lists the dedicated servers that renew within a week, and shows how one would be cancelled. */
import { createReseller } from '@reseller/client';

const reseller = createReseller({ environment: 'sandbox' });

const inAWeek = Date.now() + 7 * 86_400_000;
const servers = await reseller.dedicated.list();
const due = servers.filter(({ accounting: { renew, terminated } }) => renew !== null && !terminated && Date.parse(renew) < inAWeek);
for (const { identifier, accounting } of due) {
  console.log(identifier, 'renews at', accounting.renew, 'for', accounting.price.gross, 'EUR');
  const { curl } = await reseller.dryRun((api) => api.dedicated.delete(identifier));
  console.log('to cancel it:', curl);
}
console.log(`${due.length} of ${servers.length} servers renew within a week`);
