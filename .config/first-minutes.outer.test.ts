/** A recording of the first five minutes: from the clone to an invoice, on a terminal, with npm 11 and an empty home. It prints a table. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import { expect, inject, onTestFinished, test, vi } from 'vitest';

import { launchBrowser, noBrowser } from './browser.ts';
import { type } from './newcomer.ts';
import './provided.ts';
import { REPOSITORY } from './turbo.ts';

/** What npx, pnpm and prompts of other programs print before they wait for an answer. */
const QUESTION = /Ok to proceed\?|\((?:y|yes)\/(?:n|no)\)|\[y\/n\]|^\? .*\?.*$/gim;

test('the first five minutes ask nothing and end with an invoice', { tags: 'deep' }, async ({ skip }) => {
  skip(noBrowser !== undefined, noBrowser);
  skip(process.platform !== 'linux', 'the program script has other options here');
  const folder = mkdtempSync(join(inject('diskFolder'), 'first minutes '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [home, npm, clone] = [join(folder, 'home'), join(folder, 'npm'), join(folder, 'my reseller')];
  mkdirSync(home);
  // Not part of the recording: its reader has npm 11.
  execFileSync('npm', ['install', '--prefix', npm, '--cache', join(folder, 'cache'), 'npm@11'], { stdio: 'pipe' });
  const settings = {
    HOME: home,
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_CONFIG_HOME: join(home, 'config'),
    npm_config_cache: join(home, 'npm'),
    npm_config_userconfig: join(home, '.npmrc'),
    // With CI, npx asks nothing.
    CI: 'false',
    PATH: `${join(npm, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
    RESELLER_PORT: '0',
    RESELLER_OPERATOR_PORT: '0',
  };
  let printed = '';
  /** Types a line on a pseudo terminal, and answers no question. */
  function terminal(line: string, at: string) {
    const typed = type(`script --quiet --return --flush --command "$LINE" /dev/null`, at, { ...settings, LINE: line });
    onTestFinished(() => typed.signal('SIGKILL'));
    return { ...typed, shown: () => stripVTControlCharacters(typed.stdout()).replaceAll('\r', '') };
  }
  async function run(line: string, at = clone): Promise<string> {
    const typed = terminal(line, at);
    const code = await typed.ended;
    printed += typed.shown();
    expect({ line, code, problems: code === 0 ? '' : typed.shown() }).toEqual({ line, code: 0, problems: '' });
    return typed.shown();
  }
  const table: { step: string; seconds: string }[] = [];
  async function step<Result>(name: string, action: () => Promise<Result>): Promise<Result> {
    const begin = performance.now();
    const result = await action();
    table.push({ step: name, seconds: ((performance.now() - begin) / 1_000).toFixed(1) });
    return result;
  }

  expect(await run('npm --version', folder)).toMatch(/^11\./);
  // The recording would notice a question: npx asks this one.
  const asking = terminal('npx pnpm@12 --version', folder);
  await vi.waitFor(() => expect(asking.shown()).toMatch(QUESTION), { timeout: 300_000, interval: 50 });
  asking.signal('SIGTERM');
  await asking.ended;
  const begin = performance.now();
  await step('clone', () => run(`git clone --quiet 'file://${REPOSITORY}' 'my reseller'`, folder));
  const service = await step('start, until the banner', async () => {
    const typed = terminal('npx -y pnpm@12 start', clone);
    await Promise.race([
      vi.waitFor(() => expect(typed.shown()).toMatch(/^curl .*\/vm\/create.*\n/m), { timeout: 300_000, interval: 50 }),
      typed.ended.then((code) => expect.fail(`The service ended with exit code ${code}: ${typed.shown()}`)),
    ]);
    return typed;
  });
  const banner = service.shown();
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ locale: 'en-GB' });
  await step('link of the console, until signed in', async () => {
    await page.goto(/^ {2}Console +(\S+)$/m.exec(banner)?.[1] ?? '');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });
  await step('purchase, as printed', async () => {
    const response = await run(/^curl -X PUT .*$/m.exec(banner)?.[0] ?? 'false');
    expect(response).toContain('"status":"success"');
  });
  await step('clock to the end of the month', async () => {
    await page.getByRole('link', { name: 'Clock', exact: true }).click();
    await page.getByRole('button', { name: 'To the end of the month' }).click();
    await page.getByText(/^Done\./).waitFor();
  });
  const invoice = await step('invoice in the console', async () => {
    await page.getByRole('link', { name: 'Invoices' }).click();
    const link = page.getByRole('table', { name: 'Invoices' }).getByRole('row').nth(1).getByRole('link').first();
    await link.click();
    const heading = page.getByRole('heading', { name: /^Invoice INV-\d+/ });
    await heading.waitFor();
    return `${await heading.textContent()}: ${(await page.locator('dl').first().innerText()).replaceAll(/\s+/g, ' ')}`;
  });
  table.push({ step: 'all', seconds: ((performance.now() - begin) / 1_000).toFixed(1) });
  printed += service.shown();
  const questions = [...printed.matchAll(QUESTION)].map(([question]) => question);
  process.stdout.write(
    `\n${table.map(({ step: name, seconds }) => `${seconds.padStart(7)} s  ${name}`).join('\n')}\n${invoice}\nQuestions: ${questions.length}\n`,
  );
  service.signal('SIGTERM');
  await service.ended;
  expect(questions).toEqual([]);
});
