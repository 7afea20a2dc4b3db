import type { HostNode, HostSystem, HostSystemPriceVersion } from '@reseller/operator-client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';

import { grouped } from '../api/money.ts';
import { pagesOf, queryOf } from '../api/queries.ts';
import { ActionButton, ActionMenu } from '../ui/Actions.tsx';
import { EmptyState, Facts, Failure, Instant, Money, PageHead, Section, Status, Text } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { labelOf } from '../ui/Fields.tsx';
import { useRows } from '../ui/list.tsx';

/** Host systems and the room of their nodes. */
export function Nodes() {
  const { rows, isLoading, error } = useRows(useInfiniteQuery(pagesOf('listHostSystems', {})));
  return (
    <>
      <PageHead title="Nodes">
        <ActionButton id="defineHostSystem" />
      </PageHead>
      {error !== null && <Failure error={error} />}
      <div className="page">
        {rows.length === 0 && !isLoading && (
          <EmptyState title="There is no host system" text="Define one with its prices and nodes. Then accounts can buy VMs." />
        )}
        {rows.map((host) => (
          <Section
            key={host.name}
            title={`${host.displayname}, ${host.datacenter.city}`}
            actions={
              <>
                <Link href={`/nodes/${host.name}`} className="button">
                  Prices
                </Link>
                <ActionMenu of={host.displayname} actions={hostActions(host)} />
              </>
            }
          >
            <DataTable
              caption={`Nodes of ${host.displayname}`}
              columns={NODES}
              rows={host.nodes}
              rowKey={({ name }) => name}
              empty={{ title: 'No node', text: 'Define the host system with at least one node.' }}
            />
          </Section>
        ))}
      </div>
    </>
  );
}

function hostActions(host: HostSystem) {
  const path = { hostsystem: host.name };
  return [
    { id: 'defineHostSystem', path },
    { id: 'scheduleHostSystemPrices', path, current: host },
  ] as const;
}

const NODES: readonly Column<HostNode>[] = [
  { header: 'Node', cell: ({ name }) => <Text value={name} /> },
  { header: 'Cores', width: '8.5rem', cell: ({ cores, used_cores }) => <Room used={used_cores} total={cores} unit="cores" /> },
  {
    header: 'Memory (GB)',
    width: '9.5rem',
    cell: ({ mem, used_mem }) => <Room used={gigabytes(used_mem)} total={gigabytes(mem)} unit="GB of memory" />,
  },
  {
    header: 'Disk (GB)',
    width: '11rem',
    wide: true,
    cell: ({ disk, used_disk }) => <Room used={used_disk} total={disk} unit="GB of disk" />,
  },
  {
    header: 'Storage (GB)',
    width: '11rem',
    wide: true,
    cell: ({ storage, used_storage }) => <Room used={used_storage} total={storage} unit="GB of storage" />,
  },
];

function gigabytes(megabytes: number): number {
  return Math.round(megabytes / 1024);
}

function Room({ used, total, unit }: { readonly used: number; readonly total: number; readonly unit: string }) {
  if (total === 0) return <span className="muted">none</span>;
  return (
    <span className="room">
      <meter
        min={0}
        max={total}
        low={total * 0.75}
        high={total * 0.9}
        optimum={0}
        value={used}
        aria-label={`${used} of ${total} ${unit} used`}
      />
      <span className="number">
        {grouped(String(used))}/{grouped(String(total))}
      </span>
    </span>
  );
}

const VERSIONS: readonly Column<HostSystemPriceVersion>[] = [
  { header: 'Valid from', width: '12rem', cell: ({ valid_from }) => <Instant at={valid_from} /> },
  { header: 'State', width: '7.5rem', cell: ({ state }) => <Status value={state} /> },
  { header: 'Applies to', width: '9rem', wide: true, cell: ({ applies_to }) => labelOf(applies_to) },
  { header: 'Core, net (EUR)', width: '6rem', align: 'right', cell: ({ prices }) => <Money amount={prices.core} /> },
  { header: 'GB memory, net (EUR)', width: '6.5rem', align: 'right', wide: true, cell: ({ prices }) => <Money amount={prices.mem} /> },
  { header: 'GB NVMe, net (EUR)', width: '6rem', align: 'right', wide: true, cell: ({ prices }) => <Money amount={prices.nvme} /> },
];

/** The prices of a host system, by date. */
export function HostSystemPage({ name }: { readonly name: string }) {
  const path = { hostsystem: name };
  const { data: host, error } = useQuery(queryOf('getHostSystem', { path }));
  const versions = useRows(useInfiniteQuery(pagesOf('listHostSystemPriceVersions', { path })));
  return (
    <>
      <PageHead title={host?.displayname ?? name} back={{ href: '/nodes', label: 'Nodes' }}>
        {host && <ActionMenu of={host.displayname} actions={hostActions(host)} />}
      </PageHead>
      {error !== null && <Failure error={error} />}
      <div className="page">
        {host && (
          <Facts
            items={[
              ['Processor', host.processor],
              ['Memory', host.memory],
              ['NVMe', host.nvme_hard_drives],
              ['Datacenter', `${host.datacenter.displayname}, ${host.datacenter.country}`],
              ...Object.entries(host.prices).map(
                ([part, amount]) => [`${labelOf(part)}, net (EUR)`, <Money key={part} amount={amount} />] as const,
              ),
            ]}
          />
        )}
        <Section title="Prices by date" actions={<ActionButton id="scheduleHostSystemPrices" path={path} current={host} />}>
          <DataTable
            caption="Prices by date"
            columns={VERSIONS}
            {...versions}
            rowKey={({ valid_from }) => valid_from}
            actions={({ valid_from, state }) => (
              <ActionMenu
                of={valid_from}
                actions={state === 'scheduled' ? [{ id: 'withdrawHostSystemPrices', path: { ...path, valid_from } }] : []}
              />
            )}
            empty={{ title: 'No prices', text: 'Schedule prices.' }}
          />
        </Section>
      </div>
    </>
  );
}
