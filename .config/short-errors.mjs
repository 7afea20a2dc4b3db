/** Loaded before a program that `try` runs. An error of the client says everything in its message, so its stack is left out. */
import { inspect } from 'node:util';

process.on('uncaughtException', (error) => {
  const { operation, name, type, message, curl } = Object(error);
  const short = [
    `${name}${type === undefined ? '' : ` (${type})`}: ${message}`,
    ...(curl === undefined ? [] : [`The request was: ${curl}`]),
  ];
  // The stack of any other error shows where the program is wrong.
  process.stderr.write(`${typeof operation === 'string' ? short.join('\n') : inspect(error)}\n`);
  process.exitCode = 1;
});
