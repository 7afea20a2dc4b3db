/** Runs the curl commands of errors in shells. */
import { expect, onTestFinished, test } from 'vitest';

import { HOSTILE_TEXTS, runInShells, SHELL_COUNT, startRecorder, whyNoCommandLines } from '../../../.config/command-line.ts';
import { createClient, listVms, ResellerError, setCreditLimit } from '../src/index.ts';

test.skipIf(whyNoCommandLines !== undefined)('has a curl command in an error that sends the same request, byte for byte', async () => {
  const recorder = await startRecorder();
  onTestFinished(() => recorder.close());
  const token = 't$(touch${IFS}made)`id`!1"\'\\t';
  const client = createClient({ baseUrl: recorder.baseUrl, token, maxRetries: 0 });
  const lines: string[] = [];
  const calls = HOSTILE_TEXTS.map(
    (value) => () => setCreditLimit({ client, path: { account_id: `x${value}` }, body: { credit_limit: value } }),
  );
  for (const call of [...calls, () => listVms({ client, query: { cursor: HOSTILE_TEXTS.join('') } })]) {
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    if (!(error instanceof ResellerError)) throw new Error('The call did not fail.', { cause: error });
    lines.push(error.curl);
  }
  await runInShells(lines, { TOKEN: token });
  const arrived = recorder.arrived.map(({ method, url, headers, body }) => {
    // Invisible characters are JSON escapes, which a person can paste.
    const form: unknown = JSON.parse(body || 'null');
    return { method, url, form, authorization: headers.authorization, type: body === '' ? undefined : headers['content-type'] };
  });
  const byClient = arrived.slice(0, lines.length);
  expect(arrived.slice(lines.length)).toEqual(Array.from({ length: SHELL_COUNT }, () => byClient).flat());
});
