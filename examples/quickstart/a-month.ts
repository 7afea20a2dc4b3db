import { createReseller } from '@reseller/client';
import { advanceClock, createClient } from '@reseller/operator-client';

const reseller = createReseller({ environment: 'sandbox' });
const operator = createClient({ environment: 'sandbox', token: process.env['RESELLER_OPERATOR_TOKEN'] });

await advanceClock({ client: operator, body: { by_seconds: 31 * 86_400 } });
const [invoice] = await reseller.accounting.invoices();
console.log(`${invoice?.status}: ${invoice?.total} EUR`);
