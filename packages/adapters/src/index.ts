export { textParts } from './dns.ts';
export type { Dns, RecordSet, Zone } from './dns.ts';
export { memoryFence, StaleTokenError } from './fencing.ts';
export type { Fence, FencingToken, Subject } from './fencing.ts';
export type { AutomaticSetUp, Fleet, ServerAccess, ServerOrder } from './fleet.ts';
export type { ForwardedPort, Hypervisor, VmOrder, VmSize } from './hypervisor.ts';
export type { Contact, DomainOrder, Registrar } from './registrar.ts';
export type { AdapterContext, Adapters, CreateAdapters } from './module.ts';
export type { DoneOrStarted, StartedTask, TaskState } from './task.ts';
