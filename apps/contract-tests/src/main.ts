import { runCommand } from './command.ts';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

const EVERY = 25;
const { stderr } = process;
let lines = 0;

/** On a terminal one line that changes, in a log now and then a line. */
function progress(line: string): void {
  if (stderr.isTTY) stderr.write(`\r\u001B[K${line.slice(0, (stderr.columns ?? 80) - 1)}`);
  else if (++lines % EVERY === 0) stderr.write(`${line}\n`);
}

process.exitCode = await runCommand(process.argv.slice(2), {
  environment: process.env,
  signal: stop.signal,
  output: {
    progress,
    print(text) {
      if (stderr.isTTY) stderr.write('\r\u001B[K');
      process.stdout.write(`${text}\n`);
    },
  },
});
