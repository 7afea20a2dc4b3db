/** Looks through the request log for failures of the last day. */
import { createReseller } from '@reseller/client';

const reseller = createReseller({ environment: 'sandbox', dates: true });

let entries = 0;
let newest: Date | undefined;
for await (const { requestDate, success, method, endpoint, error_type: type, requestID } of reseller.account.requests()) {
  newest ??= requestDate;
  if (requestDate.getTime() < newest.getTime() - 86_400_000) break;
  entries++;
  if (success !== 1) console.log(requestDate.toISOString(), method, endpoint, type, requestID);
}
console.log(entries, 'requests within a day of the newest');
