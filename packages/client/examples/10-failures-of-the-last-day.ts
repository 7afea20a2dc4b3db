/** Looks through the request log for failures of the last day. */
import { createReseller } from '@reseller/client';

const reseller = createReseller({ environment: 'sandbox' });

let entries = 0;
let newest: string | undefined;
for await (const { requestDate, success, method, endpoint, error_type: type, requestID } of reseller.account.requests()) {
  newest ??= requestDate;
  if (Date.parse(requestDate) < Date.parse(newest) - 86_400_000) break;
  entries++;
  if (success !== 1) console.log(requestDate, method, endpoint, type, requestID);
}
console.log(entries, 'requests within a day of the newest');
