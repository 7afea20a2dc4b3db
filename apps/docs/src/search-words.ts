/** Words that people search for and that the documents do not use, by operation. Repeated words count more. */
export const SEARCH_WORDS: Readonly<Record<string, string>> = {
  createVm: 'order buy server cloud instance, ssh key, ssh key, rdns, reverse DNS, PTR record',
  reinstallVm: 'rebuild reset, ssh key, ssh key, new root password',
  deleteVm: 'terminate VM, terminate VM, terminate, cancel, destroy, remove a virtual server',
  quoteCreateVm: 'price before buying, price before buying, price before buying, cost, estimate, preview, quote, dry run, how much',
  changeVm: 'upgrade, upgrade, downgrade, resize, resize, resize, resize a VM, resize a virtual server, scale',
  openVmConsole: 'VNC, noVNC, KVM console, screen, keyboard, remote access',
  buyIps: 'additional address, extra IP, second IPv4, order',
  assignIp: 'reassign, move, failover, floating IP',
  setVmPower: 'reboot, shutdown, suspend, unsuspend a virtual server',
  deleteDedicatedServer: 'cancel server, cancel server, cancel server, terminate a dedicated server',
  enableDomainDnssec: 'DS record, delegation signer, DNSKEY, sign a zone, secDNS',
  deleteDomain: 'terminate a domain',
};
