import type { DedicatedServer, MarketItem } from '@reseller/operator-client';
import { useInfiniteQuery } from '@tanstack/react-query';

import { pagesOf } from '../api/queries.ts';
import { AccountName, useAccountNames } from '../ui/AccountName.tsx';
import { ActionButton, ActionMenu } from '../ui/Actions.tsx';
import { Instant, Money, PageHead, Section, ShortId, Status } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { useRows } from '../ui/list.tsx';

const MARKET: readonly Column<MarketItem>[] = [
  { header: 'Offer', cell: ({ cpu }) => <span className="ellipsis">{`${cpu.amount} × ${cpu.type}`}</span> },
  { header: 'Memory', width: '10rem', wide: true, cell: ({ memory }) => `${memory.size} GB ${memory.type}` },
  {
    header: 'Disks',
    width: '14rem',
    wide: true,
    cell: ({ disks }) => (
      <span className="ellipsis">{disks.map(({ amount, size, type }) => `${amount} × ${size} ${type}`).join(', ')}</span>
    ),
  },
  { header: 'Place', width: '8rem', wide: true, cell: ({ datacenter }) => datacenter.name },
  { header: 'Price', width: '7rem', align: 'right', cell: ({ price }) => <Money amount={price} /> },
  { header: 'Days', width: '4rem', align: 'right', cell: ({ runtime_days }) => runtime_days },
];

/** Dedicated servers of all accounts, and the market. */
export function Servers() {
  const names = useAccountNames();
  const servers = useRows(useInfiniteQuery(pagesOf('listDedicatedServers', {})));
  const market = useRows(useInfiniteQuery(pagesOf('listMarketItems', {})));
  const columns: readonly Column<DedicatedServer>[] = [
    { header: 'Server', width: '9.5rem', cell: ({ id }) => <ShortId id={id} /> },
    { header: 'State', width: '8.5rem', cell: (server) => <Status value={stateOf(server)} /> },
    { header: 'Account', cell: ({ account_id }) => <AccountName id={account_id} names={names} /> },
    { header: 'Address', width: '10rem', wide: true, cell: ({ ipv4 }) => <code>{ipv4[0]?.address ?? ''}</code> },
    { header: 'Renews', width: '12rem', wide: true, cell: ({ renew }) => <Instant at={renew} /> },
    { header: 'Price', width: '7rem', align: 'right', cell: ({ price }) => <Money amount={price} /> },
  ];
  return (
    <>
      <PageHead title="Servers">
        <ActionButton id="orderDedicatedServer" />
        <ActionButton id="addMarketItem" />
      </PageHead>
      <div className="page">
        <Section title="Servers of accounts">
          <DataTable
            caption="Servers of accounts"
            columns={columns}
            {...servers}
            rowKey={({ id }) => id}
            actions={(server) => (
              <ActionMenu
                of={`server ${server.id}`}
                actions={server.deployed ? [] : [{ id: 'completeDedicatedSetup', path: { server_id: server.id } }]}
              />
            )}
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

function orderOf({ id, account_id: accountId }: MarketItem) {
  return { id: 'orderDedicatedServer', label: 'Order', current: { market_id: id, account_id: accountId } } as const;
}

function stateOf({ deployed, terminated }: DedicatedServer): string {
  if (!deployed) return 'in setup';
  return terminated ? 'terminated' : 'running';
}
