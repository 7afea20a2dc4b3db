import { expect, onTestFinished, test } from 'vitest';

import { launchBrowser, noBrowser } from '../../../.config/browser.ts';
import { startServer, temporaryDirectory } from './process.ts';
import type { Server } from './process.ts';

const PAGES = [
  { page: 'index', ownUrl: (server: Server) => server.baseUrl, others: ['https://api.reseller.invalid'] },
  { page: 'operator', ownUrl: (server: Server) => server.operatorUrl, others: [] },
];

test.for(PAGES)(
  'the $page reference that a sandbox serves shows the address of the sandbox first, for every operation',
  async ({ page: name, ownUrl, others }, { skip }) => {
    if (noBrowser !== undefined) skip(noBrowser);
    const server = await startServer({ RESELLER_DATA_DIR: temporaryDirectory() });
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const failures: string[] = [];
    page.on('pageerror', (error) => failures.push(error.message));
    await page.goto(`${server.baseUrl}/docs/${name}.html`);
    await page.locator('h1').first().waitFor();
    const operations = operationsOf(await (await fetch(`${server.baseUrl}/docs/${name}.json`)).text());
    expect(operations.length).toBeGreaterThan(20);
    for (const { id, path } of operations) {
      const section = page.locator(`[id$="/operation/${id}"]`);
      const addresses = await section.locator('.http-verb').locator('xpath=../following-sibling::div[1]').getByText(path).allTextContents();
      expect.soft(addresses, id).toEqual([ownUrl(server), ...others].map((url) => `${url}${path}`));
    }
    expect(failures).toEqual([]);
  },
);

test('the reference of a sandbox with a public URL shows that URL', async () => {
  const server = await startServer({ RESELLER_DATA_DIR: temporaryDirectory(), RESELLER_PUBLIC_URL: 'https://api.example.com/v1' });
  const script = await (await fetch(`${server.baseUrl}/docs/own-servers.js`)).text();
  expect(script).toContain('"index":{"url":"https://api.example.com/v1","description":"Sandbox"}');
});

/** Every operation of a document. */
function operationsOf(json: string): { id: string; path: string }[] {
  const { paths }: { paths: Record<string, Record<string, { operationId?: string }>> } = JSON.parse(json);
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item).flatMap(({ operationId }) => (operationId === undefined ? [] : [{ id: operationId, path }])),
  );
}
