import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runCommand } from '../src/command.ts';

/** The result of a command. */
export interface CommandResult {
  readonly code: number;
  readonly output: string;
}

export interface More {
  /** Path of the journal. Default: a temporary file. */
  readonly journal?: string;
  readonly onPrint?: (text: string) => void;
  readonly onProgress?: (line: string) => void;
}

/** Runs a command in this process. */
export async function command(
  argv: readonly string[],
  environment: Readonly<Record<string, string>>,
  more: More = {},
): Promise<CommandResult> {
  const folder = await mkdtemp(join(tmpdir(), 'contract-command-'));
  const printed: string[] = [];
  try {
    const code = await runCommand(argv, {
      environment,
      paths: { journal: more.journal ?? join(folder, 'journal.jsonl') },
      output: {
        print(text) {
          printed.push(text);
          more.onPrint?.(text);
        },
        progress: (line) => more.onProgress?.(line),
      },
    });
    return { code, output: printed.join('\n') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
