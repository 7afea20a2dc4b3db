/** Runs a command with secrets, and searches its output for them. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { loadDocument } from '../src/document.ts';
import { command } from './run-command.ts';
import type { CommandResult, More } from './run-command.ts';
import { FAKE_KEY } from './selftest/fake-service.ts';

const OPERATOR_TOKEN = 'operator-token-of-the-secrets-test';

/** Runs a command with both keys and the token, and adds its output to `streams`. */
export async function runWithSecrets(argv: readonly string[], folder: string, streams: string[], more: More = {}): Promise<CommandResult> {
  const environment = { RESELLER_API_KEY: FAKE_KEY, RESELLER_OPERATOR_TOKEN: OPERATOR_TOKEN };
  return command(argv, environment, {
    journal: join(folder, 'journal.jsonl'),
    ...more,
    onPrint(text) {
      streams.push(text);
      more.onPrint?.(text);
    },
    onProgress: (line) => streams.push(line),
  });
}

/** The secrets that a command gets. */
export const SECRETS: readonly string[] = [FAKE_KEY, OPERATOR_TOKEN];

export async function secretsOfExamples(): Promise<readonly string[]> {
  const text = JSON.stringify(await loadDocument());
  return [...text.matchAll(/"(?:password|otp_code|authcode)":"([^"*]{6,})"/g)].map(([, secret]) => secret ?? '');
}

/** A secret and its encodings in the report formats. */
function formsOf(secret: string): readonly string[] {
  const xml = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), xml, xml.replaceAll('"', '&quot;')];
}

export async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Secrets in the files of a folder and in texts, each with its place. */
export async function leaksIn(folder: string, streams: readonly string[], secrets: readonly string[]): Promise<readonly string[]> {
  const texts = [
    ...streams.map((line) => ['a stream', line] as const),
    ...(await Promise.all((await filesIn(folder)).map(async (file) => [file, await readFile(file, 'utf8')] as const))),
  ];
  if (texts.length === 0) throw new Error('The command wrote nothing, so the test shows nothing.');
  return texts.flatMap(([place, written]) =>
    secrets.flatMap((secret) => (formsOf(secret).some((form) => written.includes(form)) ? [`${secret} in ${place}`] : [])),
  );
}
