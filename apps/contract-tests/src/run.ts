import { styleText } from 'node:util';

import { runCommand } from './command.ts';
import { coloured } from './render.ts';

const LINES_PER_LOG_LINE = 25;
const { stderr, stdout } = process;
let lines = 0;

/** Updates one line on a terminal. In a log, prints every 25th line. */
function progress(line: string, isPassing = false): void {
  if (stderr.isTTY) stderr.write(`\r\u001B[K${line.slice(0, (stderr.columns ?? 80) - 1)}`);
  else if (!isPassing && ++lines % LINES_PER_LOG_LINE === 0) stderr.write(`${line}\n`);
}

const stop = new AbortController();
let signals = 0;
for (const [name, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
  process.on(name, () => {
    // A second signal ends the process. The journal lets the next run finish.
    if (++signals > 1) process.exit(code);
    stop.abort(code);
    stderr.write(`\n${name}: stopping, and undoing what the run made. A second signal stops at once.\n`);
  });
}

process.exitCode = await runCommand(process.argv.slice(2), {
  environment: process.env,
  signal: stop.signal,
  output: {
    progress,
    print(text) {
      if (stderr.isTTY) stderr.write('\r\u001B[K');
      // `styleText` omits colours if the terminal does not support them or NO_COLOR is set.
      const shown = stdout.isTTY ? coloured(text, (colour, part) => styleText(colour, part, { stream: stdout })) : text;
      stdout.write(`${shown}\n`);
    },
  },
});
