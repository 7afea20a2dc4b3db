import type { DedicatedServer, MarketItem } from '@reseller/operator-client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';

import { unitsOf } from '../api/money.ts';
import { pagesOf, queryOf } from '../api/queries.ts';
import { AccountName, useAccountNames } from '../ui/AccountName.tsx';
import { ActionButton, ActionMenu } from '../ui/Actions.tsx';
import { Facts, Failure, Instant, Money, PageHead, Section, ShortId, Status, Text } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { FilteredList, useRows } from '../ui/list.tsx';

const MARKET: readonly Column<MarketItem>[] = [
  { header: 'Offer', cell: ({ cpu }) => <Text value={`${cpu.amount} × ${cpu.type}`} /> },
  { header: 'Memory', width: '11rem', wide: true, cell: ({ memory }) => `${memory.size} GB ${memory.type}` },
  {
    header: 'Disks',
    width: '22rem',
    wide: true,
    cell: ({ disks }) => (
      <span className="ellipsis">{disks.map(({ amount, size, type }) => `${amount} × ${size} GB ${type}`).join(', ')}</span>
    ),
  },
  { header: 'Place', width: '8rem', wide: true, cell: ({ datacenter }) => datacenter.name },
  { header: 'Net (EUR)', width: '7rem', align: 'right', cell: ({ price }) => <Money amount={price} /> },
  { header: 'Days', width: '4rem', align: 'right', wide: true, cell: ({ runtime_days }) => runtime_days },
];

/** Dedicated servers of all accounts, and the market. */
export function Servers() {
  const names = useAccountNames();
  const servers = useRows(useInfiniteQuery(pagesOf('listDedicatedServers', {})));
  const market = useRows(useInfiniteQuery(pagesOf('listMarketItems', {})));
  const columns: readonly Column<DedicatedServer>[] = [
    { header: 'Server', width: '9.5rem', cell: ({ id }) => <ShortId id={id} /> },
    { header: 'State', width: '8rem', sortBy: stateOf, cell: (server) => <Status value={stateOf(server)} /> },
    {
      header: 'Account',
      sortBy: ({ account_id }) => names.get(account_id) ?? '',
      cell: ({ account_id }) => <AccountName id={account_id} names={names} />,
    },
    { header: 'Address', width: '10rem', wide: true, sortBy: addressOf, cell: (server) => <code>{addressOf(server)}</code> },
    { header: 'Renews', width: '12rem', wide: true, sortBy: ({ renew }) => renew, cell: ({ renew }) => <Instant at={renew} /> },
    {
      header: 'Net (EUR)',
      width: '7rem',
      align: 'right',
      wide: true,
      sortBy: ({ price }) => unitsOf(price),
      cell: ({ price }) => <Money amount={price} />,
    },
  ];
  return (
    <>
      <PageHead title="Servers">
        <ActionButton id="orderDedicatedServer" />
        <ActionButton id="addMarketItem" />
      </PageHead>
      <div className="page">
        <Section title="Servers of accounts">
          <FilteredList
            caption="Servers of accounts"
            list={servers}
            textOf={(server) => `${server.id} ${stateOf(server)} ${names.get(server.account_id) ?? ''} ${addressOf(server)}`}
            columns={columns}
            rowKey={({ id }) => id}
            href={({ id }) => `/servers/${id}`}
            actions={(server) => <ActionMenu of={`server ${server.id}`} actions={serverActions(server, names)} />}
            empty={{ title: 'No account has a server', text: 'Order one of the market for an account.' }}
          />
        </Section>
        <Section title="Market">
          <DataTable
            caption="Market"
            columns={MARKET}
            {...market}
            rowKey={({ id }) => id}
            actions={(offer) => <ActionMenu of={offer.cpu.type} actions={[orderOf(offer)]} />}
            empty={{ title: 'The market is empty', text: 'Add an offer, so that accounts can buy it.' }}
          />
        </Section>
      </div>
    </>
  );
}

function serverActions({ id, account_id, ordered, deployed }: DedicatedServer, names: ReadonlyMap<string, string>) {
  const target = `${names.get(account_id) ?? account_id}, ordered ${ordered.slice(0, 10)}`;
  return deployed ? [] : ([{ id: 'completeDedicatedSetup', path: { server_id: id }, target }] as const);
}

/** A server of an account. */
export function ServerPage({ id }: { readonly id: string }) {
  const names = useAccountNames();
  const { data: server, error } = useQuery({ ...queryOf('getDedicatedServer', { path: { server_id: id } }), refetchInterval: 5_000 });
  return (
    <>
      <PageHead title="Server" back={{ href: '/servers', label: 'Servers' }}>
        {server && <ActionMenu of={`server ${id}`} actions={serverActions(server, names)} />}
      </PageHead>
      {error !== null && <Failure error={error} />}
      {server && (
        <div className="page">
          {server.terminated && (
            <p>
              The account can take the cancellation back until the server ends: <code>POST /dedicated/{id}/undelete</code>. No operator can.
            </p>
          )}
          <Facts
            items={[
              ['State', <Status key="state" value={stateOf(server)} />],
              ['Account', <AccountName key="account" id={server.account_id} names={names} />],
              ['Identifier', <code key="id">{server.id}</code>],
              ['Data centre', `${server.datacenter.displayname}, ${server.datacenter.country}`],
              ['IPv4', <code key="ipv4">{server.ipv4.map(({ address }) => address).join(', ') || 'none'}</code>],
              ['IPv6', <code key="ipv6">{server.ipv6.map(({ address }) => address).join(', ') || 'none'}</code>],
              ['Ordered', <Instant key="ordered" at={server.ordered} />],
              [server.terminated ? 'Ends' : 'Renews', <Instant key="renew" at={server.renew} />],
              [`Net for ${server.runtime_days} days (EUR)`, <Money key="price" amount={server.price} />],
            ]}
          />
        </div>
      )}
    </>
  );
}

function addressOf({ ipv4 }: DedicatedServer): string {
  return ipv4[0]?.address ?? '';
}

function orderOf({ id, account_id: accountId }: MarketItem) {
  return { id: 'orderDedicatedServer', label: 'Order', current: { market_id: id, account_id: accountId } } as const;
}

function stateOf({ deployed, terminated }: DedicatedServer): string {
  if (!deployed) return 'in setup';
  return terminated ? 'terminated' : 'running';
}
