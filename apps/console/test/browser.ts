/** A sandbox as a newcomer starts it, and its console in a real Chromium. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

import { startSandbox } from '../../../.config/sandbox.ts';
import type { Sandbox } from '../../../.config/sandbox.ts';

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };
/** The browser of the tests has a language that is not one, unless it gets one. */
const USUAL: BrowserContextOptions = { locale: 'en-GB', reducedMotion: 'reduce', viewport: DESKTOP };

/** A sandbox that can be stopped and started again at the same addresses, with the same data. */
export interface Restartable {
  readonly dataDirectory: string;
  current(): Sandbox;
  stop(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

export async function startRestartable(): Promise<Restartable> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'console-sandbox-'));
  let isRunning = true;
  let sandbox = await startSandbox({ RESELLER_DATA_DIR: dataDirectory });
  const ports = { RESELLER_PORT: new URL(sandbox.baseUrl).port, RESELLER_OPERATOR_PORT: new URL(sandbox.operatorUrl).port };
  async function stop(): Promise<void> {
    if (isRunning) await sandbox.stop();
    isRunning = false;
  }
  return {
    dataDirectory,
    current: () => sandbox,
    stop,
    async start() {
      sandbox = await startSandbox({ RESELLER_DATA_DIR: dataDirectory, ...ports });
      isRunning = true;
    },
    async remove() {
      await stop();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

/** The link of the console in the text that the sandbox printed. */
export function consoleLink({ welcome }: Sandbox): string {
  return /^ {2}Console +(\S+)$/m.exec(welcome)?.[1] ?? expect.fail(`The sandbox printed no link to the console: ${welcome}`);
}

/** Runs the command that the sandbox printed, as a person does who copies it. */
export async function runPrintedPurchase({ welcome }: Sandbox): Promise<{ readonly identifier: number }> {
  const command = /^curl -X PUT .*$/m.exec(welcome)?.[0] ?? expect.fail('The sandbox printed no command.');
  const { stdout } = await promisify(execFile)('sh', ['-c', `${command} --silent`]);
  return JSON.parse(stdout).data;
}

/** Sends a request to the operator API with the token that the sandbox printed, and returns the body of the response. */
export async function operate({ operatorUrl, operatorToken }: Sandbox, line: string, body?: unknown) {
  const [method = '', path = ''] = line.split(' ');
  const response = await fetch(operatorUrl + path, {
    method,
    headers: { authorization: `Bearer ${operatorToken}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect([line, response.ok]).toEqual([line, true]);
  return response.status === 204 ? undefined : response.json();
}

/** Sends a request to the reseller API as the demo account. */
export async function call({ baseUrl, apiKey }: Sandbox, line: string, form?: Readonly<Record<string, string>>) {
  const [method = '', path = ''] = line.split(' ');
  const headers = { 'X-SERVICE-APIKEY': apiKey };
  const response = await fetch(baseUrl + path, { method, headers, ...(form === undefined ? {} : { body: new URLSearchParams(form) }) });
  return response.json();
}

/** What went wrong in pages: failures of scripts, refused requests and styles, and requests to other hosts. */
export interface Watched {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly faults: string[];
}

export async function openContext(browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ ...USUAL, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('dialog', (dialog) => faults.push(`dialog: ${dialog.message()}`));
  page.on('console', (message) => {
    // A page that is opened without a session asks for it once. Tests send refused forms and stop the service.
    if (message.type() === 'error' && !/status of (?:401|412|422|503)|ERR_CONNECTION|ERR_EMPTY_RESPONSE/.test(message.text()))
      faults.push(message.text());
  });
  page.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (hostname !== '127.0.0.1' && protocol.startsWith('http')) faults.push(`request to ${request.url()}`);
  });
  return { context, page, faults };
}

/** How many pixels the page is wider than the screen. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** Links and buttons in a link or a button, which HTML does not allow: a click or a screen reader finds only one of them. */
export function nestedControls(page: Page): Promise<string[]> {
  return page.locator(':is(a, button) :is(a, button)').allInnerTexts();
}
