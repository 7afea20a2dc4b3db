import { retireServer, setUpServer } from './core/dedicated/fleet.ts';
import { moveDomain } from './core/domain/move.ts';
import { renewAtRegistrar } from './core/domain/renew.ts';
import { terminateDomain } from './core/domain/terminate.ts';
import { blockVm } from './core/vm/abuse.ts';
import { adoptVm } from './core/vm/adopt.ts';
import { createBackup, deleteBackup, restoreBackup } from './core/vm/backups.ts';
import { createVm } from './core/vm/create.ts';
import { releaseVm, removeVm, resizeVm, startVm, stopVm } from './core/vm/deliveries.ts';
import { startMachine } from './core/vm/ended-machines.ts';
import { resetPassword, restartVm } from './core/vm/guest-deliveries.ts';
import { assignIp, attachIp } from './core/vm/ip-deliveries.ts';
import { bootFromIso } from './core/vm/iso.ts';
import type { AnyDelivery } from './delivery/delivery.ts';
import { disableDnssec } from './reseller/domain/disable-domain-dnssec.ts';
import { enableDnssec } from './reseller/domain/enable-domain-dnssec.ts';
import { register } from './reseller/domain/register-domain.ts';
import { requestAuthcode } from './reseller/domain/request-domain-authcode.ts';
import { setHandle } from './reseller/domain/set-domain-handle.ts';
import { setNameservers } from './reseller/domain/set-domain-nameservers.ts';
import { setTransferLock } from './reseller/domain/set-domain-transfer-lock.ts';
import { undelete } from './reseller/domain/undelete-domain.ts';
import { reinstall } from './reseller/vm/reinstall-vm.ts';

const all: readonly AnyDelivery[] = [
  createVm,
  adoptVm,
  startVm,
  stopVm,
  blockVm,
  resizeVm,
  removeVm,
  releaseVm,
  restartVm,
  startMachine,
  resetPassword,
  bootFromIso,
  reinstall,
  createBackup,
  restoreBackup,
  deleteBackup,
  assignIp,
  attachIp,
  register,
  undelete,
  setNameservers,
  setTransferLock,
  setHandle,
  enableDnssec,
  disableDnssec,
  requestAuthcode,
  terminateDomain,
  moveDomain,
  renewAtRegistrar,
  setUpServer,
  retireServer,
];

/** Every delivery that may have a reservation in the store, by its name. */
export const deliveries: Readonly<Record<string, AnyDelivery>> = Object.fromEntries(all.map((delivery) => [delivery.name, delivery]));
