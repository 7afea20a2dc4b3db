/** Handles each event of the account once, also over several runs of the program. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

import { createReseller, CursorExpiredError, eventPages } from '@reseller/client/extension';

const reseller = createReseller({ environment: 'sandbox' });
const file = 'events-cursor.txt';

try {
  const form = existsSync(file) ? { cursor: readFileSync(file, 'utf8') } : {};
  for await (const { events, cursor } of eventPages(reseller, form)) {
    for (const event of events) if (event.type === 'vm.stopped') console.log('VM', event.data.vmid, 'has stopped');
    writeFileSync(file, cursor);
  }
} catch (error) {
  if (!(error instanceof CursorExpiredError)) throw error;
  console.log('events are missing: compare the lists of the API with your data, and delete', file);
}
