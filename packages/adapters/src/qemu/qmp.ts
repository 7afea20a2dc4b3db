/** Commands to QEMU's monitor and to the guest agent of a VM. */
import { GuestError } from '../guest-error.ts';
import { isMessage, QemuCommandError, withJsonSocket } from './json-socket.ts';
import type { JsonSocket, Message } from './json-socket.ts';

export const QMP_SOCKET = 'qmp.sock';
export const AGENT_SOCKET = 'agent.sock';

const QMP_TIMEOUT_MS = 5_000;
/** A guest chooses the description of its error. */
const MAX_DESCRIPTION_LENGTH = 200;

/** Carries out one command of QMP and returns its result. */
export function qmp(folder: string, execute: string, given: Message = {}, timeoutMs = QMP_TIMEOUT_MS): Promise<unknown> {
  return withJsonSocket(folder, QMP_SOCKET, async (socket) => {
    await socket.next((message) => 'QMP' in message, timeoutMs);
    await answered(socket, { execute: 'qmp_capabilities' }, timeoutMs);
    return answered(socket, { execute, arguments: given }, timeoutMs);
  });
}

/** Carries out a command of the human monitor, such as `savevm`, which has no equivalent in QMP that answers when it is done. */
export async function monitor(folder: string, command: string, timeoutMs: number): Promise<string> {
  const printed = String(await qmp(folder, 'human-monitor-command', { 'command-line': command }, timeoutMs));
  if (/^Error/m.test(printed)) throw new QemuCommandError(printed.trim());
  return printed;
}

/** Carries out a command of the guest agent. @throws GuestError if the VM has no agent, or it does not answer, such as while it boots. */
export async function agent(folder: string, execute: string, { timeoutMs, ...given }: Message & { timeoutMs: number }): Promise<unknown> {
  try {
    return await withJsonSocket(folder, AGENT_SOCKET, async (socket) => {
      // Answers to an earlier connection that was closed may still arrive.
      const id = Math.floor(Math.random() * 2 ** 31);
      socket.send({ execute: 'guest-sync', arguments: { id } });
      await socket.next((message) => message['return'] === id, timeoutMs);
      return answered(socket, { execute, arguments: given }, timeoutMs);
    });
  } catch (error) {
    throw error instanceof QemuCommandError ? new GuestError(error.message, { cause: error }) : error;
  }
}

/** Tells the guest agent to shut the VM down. The agent sends no response when the shutdown begins. */
export function agentShutdown(folder: string, timeoutMs: number): Promise<void> {
  return withJsonSocket(folder, AGENT_SOCKET, async (socket) => {
    socket.send({ execute: 'guest-sync', arguments: { id: 1 } });
    await socket.next((message) => message['return'] === 1, timeoutMs);
    socket.send({ execute: 'guest-shutdown', arguments: { mode: 'powerdown' } });
    await socket.next(() => true, timeoutMs).catch(() => {});
  });
}

async function answered(socket: JsonSocket, command: Message, timeoutMs: number): Promise<unknown> {
  socket.send(command);
  const answer = await socket.next((message) => 'return' in message || 'error' in message, timeoutMs);
  const { error } = answer;
  if (error === undefined) return answer['return'];
  const description = isMessage(error) ? String(error['desc']) : String(error);
  throw new QemuCommandError(`${String(command['execute'])} was refused: ${description.slice(0, MAX_DESCRIPTION_LENGTH)}`);
}
