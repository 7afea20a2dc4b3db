/** Turns events into log lines. No line has a secret, the API key or personal data. */
import { environmentVariable } from './runtime/environment.ts';
import type { ClientEvent, Logger, LogLevel } from './runtime/options.ts';

export const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'off'];

/** Names the level where `logLevel` is not set. */
const ENVIRONMENT_VARIABLE = 'RESELLER_LOG';

/**
 * Returns what logs an event. Undefined when nothing is logged: at level `off`, and without a logger and a level.
 *
 * @throws TypeError when the level is unknown.
 */
export function loggerOf(logger?: Logger, logLevel?: LogLevel): ((event: ClientEvent) => unknown) | undefined {
  const level = logLevel ?? levelOfEnvironment() ?? (logger ? 'warn' : 'off');
  const target = logger ?? console;
  if (!LOG_LEVELS.includes(level)) throw new TypeError(`logLevel '${level}' is unknown. Use one of ${LOG_LEVELS.join(', ')}.`);
  if (level === 'off') return undefined;
  function isOn(wanted: LogLevel) {
    return LOG_LEVELS.indexOf(wanted) >= LOG_LEVELS.indexOf(level);
  }
  return (event) => {
    const severity = severityOf(event);
    // A logger may return a promise, although its type says that it returns nothing.
    return isOn(severity) ? target[severity](lineOf(event), detailsOf(event)) : undefined;
  };
}

function severityOf(event: ClientEvent): Exclude<LogLevel, 'off'> {
  if (event.type === 'failure') return event.error.name === 'OutcomeUnknownError' ? 'error' : 'warn';
  return event.type === 'response' && event.method !== 'GET' ? 'info' : 'debug';
}

function lineOf(event: ClientEvent): string {
  const { operation, attempt, milliseconds } = event;
  if (event.type === 'request') return `${operation}: attempt ${attempt}`;
  if (event.type === 'response') return `${operation}: status ${event.status} in ${milliseconds} ms`;
  const next = event.delay === undefined ? '' : `. Next attempt in ${Math.round(event.delay)} ms`;
  return `${event.error.message}${next}`;
}

function detailsOf(event: ClientEvent): object {
  const { method, url, form, attempt, milliseconds } = event;
  return { method, url, form, attempt, milliseconds, requestID: requestIDOf(event) };
}

function requestIDOf(event: ClientEvent): string | null | undefined {
  if (event.type === 'request') return undefined;
  return event.type === 'response' ? event.requestID : event.error.requestID;
}

function levelOfEnvironment(): LogLevel | undefined {
  const named = environmentVariable(ENVIRONMENT_VARIABLE);
  return LOG_LEVELS.find((level) => level === named);
}
