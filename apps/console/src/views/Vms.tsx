import type { RdnsName, Vm, VmBackup } from '@reseller/operator-client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';

import { perSecond, unitsOf } from '../api/money.ts';
import { pagesOf, queryOf } from '../api/queries.ts';
import { AccountName, useAccountNames } from '../ui/AccountName.tsx';
import { ActionButton, ActionMenu } from '../ui/Actions.tsx';
import { Facts, Failure, Instant, Money, PageHead, Section, Status, Text } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { FilteredList, useRows } from '../ui/list.tsx';
import { Sections } from '../ui/Sections.tsx';
import { visible } from '../ui/visible.ts';
import { POSITIONS } from './Credit.tsx';
import { VmUsage } from './VmUsage.tsx';

const WEB_PORT = 80;

export function Vms() {
  const names = useAccountNames();
  const vms = useRows(useInfiniteQuery(pagesOf('listVms', {})));
  const columns: readonly Column<Vm>[] = [
    {
      header: 'VM',
      sortBy: ({ id }) => id,
      cell: ({ id, name }) => (
        <span className="ellipsis">
          {id} <span className="muted">{visible(name)}</span>
        </span>
      ),
    },
    { header: 'State', width: '7rem', sortBy: vmState, cell: (vm) => <Status value={vmState(vm)} /> },
    {
      header: 'Account',
      width: '11rem',
      wide: true,
      sortBy: ({ account_id }) => names.get(account_id) ?? '',
      cell: ({ account_id }) => <AccountName id={account_id} names={names} />,
    },
    { header: 'Address', width: '9.5rem', wide: true, sortBy: vmAddress, cell: (vm) => <code>{vmAddress(vm)}</code> },
    { header: 'Resources', width: '12rem', wide: true, sortBy: ({ cores }) => cores, cell: resourcesOf },
    {
      header: 'Net, 30 days (EUR)',
      width: '8rem',
      align: 'right',
      sortBy: ({ monthly_price }) => unitsOf(monthly_price),
      cell: ({ monthly_price }) => <Money amount={monthly_price} />,
    },
  ];
  return (
    <>
      <PageHead title="VMs" />
      <FilteredList
        caption="VMs"
        list={vms}
        textOf={(vm) =>
          [vm.id, vm.name, vm.hostname, labelsOf(vm), vmState(vm), names.get(vm.account_id), ...vm.ipv4, ...vm.ipv6, vm.node].join(' ')
        }
        columns={columns}
        rowKey={({ id, created }) => `${id} ${created}`}
        href={({ id }) => `/vms/${id}`}
        actions={(vm) => <ActionMenu of={`VM ${vm.id}`} actions={vmActions(vm)} />}
        empty={{ title: 'There is no VM', text: 'A reseller buys one with PUT /vm/create. It appears here at once.' }}
      />
    </>
  );
}

function vmState({ state, abuse }: Vm): string {
  return abuse.status === 'BLOCKED' ? 'blocked' : state;
}

function vmAddress({ ipv4, ipv6 }: Vm): string {
  return ipv4[0] ?? ipv6[0] ?? '';
}

function labelsOf({ labels }: Vm): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}

function abuseOf({ abuse: { status, reason } }: Vm): string {
  return reason === null ? status : `${status}: ${reason}`;
}

function resourcesOf({ cores, mem, disk }: Vm): string {
  return `${cores} cores, ${mem / 1024} GB, ${disk} GB`;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function vmActions(vm: Vm) {
  const common = { path: { vm_id: vm.id }, target: `${vm.id} ${vm.name}` };
  if (vm.state === 'removed') return [];
  const resize = { id: 'resizeVm', ...common, current: vm } as const;
  const remove = { id: 'removeVm', ...common } as const;
  const abuse = { id: 'setVmAbuseStatus', ...common } as const;
  if (vm.state === 'stopped') return [{ id: 'startVm', ...common } as const, resize, abuse, remove];
  return [{ id: 'stopVm', ...common } as const, resize, { id: 'restartVmBilling', ...common } as const, abuse, remove];
}

/** Links to the ports that the host of a VM forwards. */
function ForwardedPorts({ id }: { readonly id: string }) {
  const { data } = useQuery({ ...queryOf('getVmAccess', { path: { vm_id: id } }), refetchInterval: 5_000 });
  const ports = data?.forwarded_ports ?? [];
  if (ports.length === 0) return 'none';
  return ports.map(({ port, address }) => (
    <span key={port}>
      {port === WEB_PORT ? <a href={`http://${address}/`}>{address}</a> : <code>{address}</code>}{' '}
      <span className="muted">port {port}</span>{' '}
    </span>
  ));
}

export function VmPage({ id }: { readonly id: string }) {
  const names = useAccountNames();
  const { data: vm, error } = useQuery({ ...queryOf('getVm', { path: { vm_id: id } }), refetchInterval: 3_000 });
  return (
    <>
      <PageHead title={`VM ${id}`} back={{ href: '/vms', label: 'VMs' }}>
        {vm && <ActionMenu of={`VM ${id}`} actions={vmActions(vm)} />}
      </PageHead>
      {error !== null && <Failure error={error} />}
      {vm && (
        <Sections>
          <p>
            <Link href={`/?search&${new URLSearchParams({ account_id: vm.account_id, endpoint: `/vm/${vm.id}/` })}`}>
              Requests of this VM
            </Link>
          </p>
          <Facts
            items={[
              ['State', <Status key="state" value={vm.state} />],
              ['Account', <AccountName key="account" id={vm.account_id} names={names} />],
              ['Hostname', vm.hostname],
              ['Name', <Text key="name" value={vm.name} />],
              ['Labels', labelsOf(vm) || 'none'],
              ['Operating system', vm.os],
              ['Host system', `${vm.hostsystem}, node ${vm.node}`],
              ['Resources', resourcesOf(vm)],
              ['Storage', vm.storage === null ? 'none' : `${vm.storage} GB`],
              [
                'Network',
                `${vm.network_speed} Mbit/s, ${counted(vm.ips, 'address', 'addresses')}, ${counted(vm.backup_slots, 'backup slot', 'backup slots')}`,
              ],
              ['IPv4', <code key="ipv4">{vm.ipv4.join(', ')}</code>],
              ['Forwarded ports', <ForwardedPorts key="ports" id={id} />],
              ['IPv6', <code key="ipv6">{vm.ipv6.join(', ')}</code>],
              ['Net, 30 days (EUR)', <Money key="month" amount={vm.monthly_price} />],
              ['Net per second (EUR)', <Money key="second" amount={perSecond(unitsOf(vm.monthly_price))} />],
              ['Sale', vm.sale_id ?? 'none'],
              ['Abuse status', abuseOf(vm)],
              ...(vm.abuse.statement === null ? [] : [['Statement', visible(vm.abuse.statement)] as const]),
              ['Created', <Instant key="created" at={vm.created} />],
            ]}
          />
          {vm.state === 'removed' ? (
            <p>A removed VM cannot be brought back.</p>
          ) : (
            <>
              <VmUsage id={id} />
              <Backups id={id} />
              <ReverseDns id={id} />
            </>
          )}
          <Positions vm={vm} />
        </Sections>
      )}
    </>
  );
}

const BACKUPS: readonly Column<VmBackup>[] = [
  {
    header: 'Made',
    cell: (backup) => (
      <>
        <Instant at={backup.created} /> <span className="narrow-only muted">{purposeOf(backup)}</span>
      </>
    ),
  },
  { header: 'Description', wide: true, cell: (backup) => <Text value={purposeOf(backup)} /> },
  { header: 'Status', width: '7rem', cell: ({ status }) => <Status value={status} /> },
  { header: 'System', width: '12rem', wide: true, cell: ({ os, disk }) => `${os}, ${disk} GB` },
];

function purposeOf({ description, scheduled }: VmBackup): string {
  return visible(description || (scheduled ? 'Scheduled' : ''));
}

/** The backups of a VM and what can be done with them. */
function Backups({ id }: { readonly id: string }) {
  const { data, isLoading, error } = useQuery({ ...queryOf('getVmBackups', { path: { vm_id: id } }), refetchInterval: 5_000 });
  return (
    <Section title="Backups">
      {error !== null && <Failure error={error} />}
      <p className="muted">
        {data && `${data.backups.length} of ${counted(data.slots, 'slot', 'slots')}. `}
        {data?.next && (
          <>
            Next by the schedule: <Instant at={data.next} />.{' '}
          </>
        )}
        <ActionButton id="createVmBackup" path={{ vm_id: id }} target={id} />
      </p>
      <DataTable
        caption="Backups"
        columns={BACKUPS}
        rows={data?.backups ?? []}
        isLoading={isLoading}
        rowKey={(backup) => backup.id}
        actions={(backup) => (
          <ActionMenu
            of={`the backup of ${backup.created}`}
            actions={(['restoreVmBackup', 'deleteVmBackup'] as const).map((action) => ({
              id: action,
              path: { vm_id: id, backup_id: backup.id },
              target: `VM ${id}, backup of ${backup.created}`,
            }))}
          />
        )}
        empty={{ title: 'There is no backup', text: 'The reseller makes one with POST /vm/{vmid}/backup/create.' }}
      />
    </Section>
  );
}

const NAMES: readonly Column<RdnsName>[] = [
  { header: 'Address', cell: ({ ip_address }) => <code className="ellipsis">{ip_address}</code> },
  { header: 'Name', cell: ({ domain }) => (domain === null ? <span className="muted">none</span> : <Text value={domain} />) },
  { header: 'Leads back', width: '7rem', cell: ({ domain, forward_confirmed }) => (domain === null ? '' : leadsBack(forward_confirmed)) },
];

function leadsBack(isConfirmed: boolean | null): string {
  if (isConfirmed === null) return 'unknown';
  return isConfirmed ? 'yes' : 'no';
}

/** The names of the addresses in reverse DNS. */
function ReverseDns({ id }: { readonly id: string }) {
  const { data, isLoading, error } = useQuery({ ...queryOf('getVmRdns', { path: { vm_id: id } }), refetchInterval: 5_000 });
  return (
    <Section title="Reverse DNS">
      {error !== null && <Failure error={error} />}
      {data && !data.zone_published && <p className="muted">{data.zone_error ?? 'The zone is being published.'}</p>}
      <DataTable
        caption="Names of the addresses"
        columns={NAMES}
        rows={data?.names ?? []}
        isLoading={isLoading}
        rowKey={({ ip_address }) => ip_address}
        actions={({ ip_address, domain }) => (
          <ActionMenu
            of={ip_address}
            actions={[
              { id: 'setVmRdns', label: 'Change the name', path: { vm_id: id, ip_address }, target: ip_address, current: { domain } },
            ]}
          />
        )}
        empty={{ title: 'The VM has no address', text: 'An address has a name from its purchase on.' }}
      />
    </Section>
  );
}

/** What the VM costs this month, from the running invoice of its account. */
function Positions({ vm }: { readonly vm: Vm }) {
  const query = queryOf('getAccountCurrentInvoice', { path: { account_id: vm.account_id } });
  const { data, isLoading } = useQuery({ ...query, refetchInterval: 5_000 });
  const rows = data?.positions.filter(({ kind, subject }) => kind === 'vm' && subject === vm.id) ?? [];
  return (
    <Section title="Positions of this month">
      <DataTable
        caption="Positions of this month"
        columns={POSITIONS}
        rows={rows}
        isLoading={isLoading}
        rowKey={({ type, start }) => `${type} ${start}`}
        empty={{ title: 'Nothing has been charged this month', text: 'A VM that runs has a position.' }}
      />
    </Section>
  );
}
