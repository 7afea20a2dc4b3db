import { serverRetirement, serverSetUp } from './core/dedicated/fleet.ts';
import { domainMove } from './core/domain/move.ts';
import { domainRenewal } from './core/domain/renew.ts';
import { domainTermination } from './core/domain/terminate.ts';
import { vmBlock } from './core/vm/abuse.ts';
import { vmAdoption } from './core/vm/adopt.ts';
import { backupCreation, backupDeletion, backupRestoration } from './core/vm/backups.ts';
import { vmPurchase } from './core/vm/create.ts';
import { vmRelease, vmRemoval, vmResize, vmStart, vmStop } from './core/vm/deliveries.ts';
import { machineStart } from './core/vm/ended-machines.ts';
import { passwordReset, vmRestart } from './core/vm/guest-deliveries.ts';
import { ipMove, ipAttachment } from './core/vm/ip-deliveries.ts';
import { isoBoot } from './core/vm/iso.ts';
import type { AnyDelivery } from './delivery/delivery.ts';
import { dnssecRemoval } from './reseller/domain/disable-domain-dnssec.ts';
import { dnssecAddition } from './reseller/domain/enable-domain-dnssec.ts';
import { domainPurchase } from './reseller/domain/register-domain.ts';
import { authcodeRequest } from './reseller/domain/request-domain-authcode.ts';
import { handleChange } from './reseller/domain/set-domain-handle.ts';
import { nameserverChange } from './reseller/domain/set-domain-nameservers.ts';
import { transferLockChange } from './reseller/domain/set-domain-transfer-lock.ts';
import { domainUndeletion } from './reseller/domain/undelete-domain.ts';
import { vmReinstallation } from './reseller/vm/reinstall-vm.ts';

const all: readonly AnyDelivery[] = [
  vmPurchase,
  vmAdoption,
  vmStart,
  vmStop,
  vmBlock,
  vmResize,
  vmRemoval,
  vmRelease,
  vmRestart,
  machineStart,
  passwordReset,
  isoBoot,
  vmReinstallation,
  backupCreation,
  backupRestoration,
  backupDeletion,
  ipMove,
  ipAttachment,
  domainPurchase,
  domainUndeletion,
  nameserverChange.delivery,
  transferLockChange.delivery,
  handleChange.delivery,
  dnssecAddition.delivery,
  dnssecRemoval.delivery,
  authcodeRequest,
  domainTermination,
  domainMove,
  domainRenewal,
  serverSetUp,
  serverRetirement,
];

/** Every delivery that may have a reservation in the store, by its name. */
export const deliveries: Readonly<Record<string, AnyDelivery>> = Object.fromEntries(all.map((delivery) => [delivery.name, delivery]));
