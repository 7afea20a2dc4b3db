/** A client of the server of tools, with a scripted user. */
import { PassThrough } from 'node:stream';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';

import { main } from '../src/run.ts';
import { person } from './cli.ts';
import type { Person } from './cli.ts';
import type { Sandbox } from './sandbox.ts';

export interface Assistant {
  readonly tools: readonly Tool[];
  /** The questions that the user was asked. */
  readonly questions: readonly string[];
  /** Ends the server. */
  close(): Promise<void>;
  /** Calls a tool. @returns the result, or the message of an error */
  call(name: string, given?: Record<string, unknown>): Promise<{ readonly ok: boolean; readonly result: unknown; readonly text: string }>;
}

/** A client, with a user who gives this answer to every question. Without an answer, the client cannot ask. */
export async function assistantOf(
  sandbox: Sandbox,
  given: readonly string[],
  answer?: 'yes' | 'no' | 'cancel',
  { env, folder }: Pick<Person, 'env' | 'folder'> = person({ RESELLER_DATA_DIR: sandbox.dataFolder }),
): Promise<Assistant> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities: answer === undefined ? {} : { elicitation: {} } });
  const questions: string[] = [];
  if (answer !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      questions.push(params.message);
      return answer === 'cancel' ? { action: 'cancel' as const } : { action: 'accept' as const, content: { confirm: answer === 'yes' } };
    });
  }
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough().resume()];
  const ended = main(['mcp', ...given], { env, folder, stdin, stdout, stderr });
  // Messages are lines in both directions, so the transport of a server is that of its client as well.
  await client.connect(new StdioServerTransport(stdout, stdin));
  async function close(): Promise<void> {
    await client.close();
    stdin.end();
    await ended;
  }
  onTestFinished(close);
  const { tools } = await client.listTools();
  return {
    tools,
    questions,
    close,
    call: async (name, input = {}) => {
      const { content, isError } = await client.callTool({ name, arguments: input });
      const [first] = Array.isArray(content) ? content : [];
      const text = String(Object(first).text);
      return { ok: isError !== true, result: isError ? text : JSON.parse(text), text };
    },
  };
}
