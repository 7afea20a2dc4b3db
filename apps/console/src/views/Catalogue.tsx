import type { IpPool, OsImage, Sale, TldPrice, TldPriceVersion } from '@reseller/operator-client';
import { useInfiniteQuery } from '@tanstack/react-query';

import { pagesOf } from '../api/queries.ts';
import { ActionButton, ActionMenu } from '../ui/Actions.tsx';
import { Instant, Money, PageHead, Section, Status, Text } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { useRows } from '../ui/list.tsx';

/** What accounts can buy, besides host systems and dedicated servers. */
export function Catalogue() {
  return (
    <>
      <PageHead title="Catalogue" />
      <div className="page">
        <Sales />
        <TldPrices />
        <OsImages />
        <IpPools />
      </div>
    </>
  );
}

const SALES: readonly Column<Sale>[] = [
  { header: 'Sale', cell: ({ title }) => <Text value={title} /> },
  { header: 'State', width: '8.5rem', cell: ({ state }) => <Status value={state} /> },
  { header: 'Sold', width: '7rem', align: 'right', wide: true, cell: ({ used_volume, max_volume }) => `${used_volume} of ${max_volume}` },
  { header: 'Start', width: '12rem', wide: true, cell: ({ start_date }) => <Instant at={start_date} /> },
  { header: 'Stop', width: '12rem', wide: true, cell: ({ stop_date }) => <Instant at={stop_date} /> },
];

function Sales() {
  const sales = useRows(useInfiniteQuery(pagesOf('listSales', {})));
  return (
    <Section title="Sales" actions={<ActionButton id="createSale" />}>
      <DataTable
        caption="Sales"
        columns={SALES}
        {...sales}
        rowKey={({ id }) => id}
        actions={({ id, title, state }) => (
          <ActionMenu of={title} actions={state === 'ended' ? [] : [{ id: 'endSale', path: { sale_id: id }, target: title }]} />
        )}
        empty={{ title: 'There is no sale', text: 'Create one to sell VMs of a host system at lower prices for a time.' }}
      />
    </Section>
  );
}

const TLDS: readonly Column<TldPrice>[] = [
  { header: 'TLD', cell: ({ tld }) => `.${tld}` },
  { header: 'Registration, net (EUR)', width: '7rem', align: 'right', cell: ({ create }) => <Money amount={create} /> },
  { header: 'Renewal, net (EUR)', width: '7rem', align: 'right', cell: ({ renew }) => <Money amount={renew} /> },
  { header: 'Transfer, net (EUR)', width: '7rem', align: 'right', wide: true, cell: ({ transfer }) => <Money amount={transfer} /> },
];

function TldPrices() {
  const tlds = useRows(useInfiniteQuery(pagesOf('listTldPrices', {})));
  return (
    <Section title="Prices of domains" actions={<ActionButton id="setTldPrice" />}>
      <DataTable
        caption="Prices of domains"
        columns={TLDS}
        {...tlds}
        rowKey={({ tld }) => tld}
        href={({ tld }) => `/catalogue/${tld}`}
        actions={(price) => {
          const path = { tld: price.tld };
          return (
            <ActionMenu
              of={`.${price.tld}`}
              actions={[
                { id: 'setTldPrice', path },
                { id: 'scheduleTldPrices', path, current: price },
              ]}
            />
          );
        }}
        empty={{ title: 'No TLD has a price', text: 'Set the prices of a TLD. Then accounts can register domains of it.' }}
      />
    </Section>
  );
}

const TLD_VERSIONS: readonly Column<TldPriceVersion>[] = [
  { header: 'Valid from', cell: ({ valid_from }) => <Instant at={valid_from} /> },
  { header: 'State', width: '7.5rem', cell: ({ state }) => <Status value={state} /> },
  { header: 'Registration, net (EUR)', width: '7rem', align: 'right', cell: ({ create }) => <Money amount={create} /> },
  { header: 'Renewal, net (EUR)', width: '7rem', align: 'right', wide: true, cell: ({ renew }) => <Money amount={renew} /> },
  { header: 'Transfer, net (EUR)', width: '7rem', align: 'right', wide: true, cell: ({ transfer }) => <Money amount={transfer} /> },
];

/** The prices of a TLD, by date. */
export function TldPage({ tld }: { readonly tld: string }) {
  const path = { tld };
  const versions = useRows(useInfiniteQuery(pagesOf('listTldPriceVersions', { path })));
  return (
    <>
      <PageHead title={`.${tld}`} back={{ href: '/catalogue', label: 'Catalogue' }}>
        <ActionButton id="scheduleTldPrices" path={path} />
      </PageHead>
      <div className="page">
        <DataTable
          caption="Prices by date"
          columns={TLD_VERSIONS}
          {...versions}
          rowKey={({ valid_from }) => valid_from}
          actions={({ valid_from, state }) => (
            <ActionMenu of={valid_from} actions={state === 'scheduled' ? [{ id: 'withdrawTldPrices', path: { tld, valid_from } }] : []} />
          )}
          empty={{ title: 'No prices', text: 'Schedule prices.' }}
        />
      </div>
    </>
  );
}

const IMAGES: readonly Column<OsImage>[] = [
  { header: 'Image', cell: ({ displayname }) => <Text value={displayname} /> },
  { header: 'Name', cell: ({ name }) => <code>{name}</code> },
  { header: 'Platform', width: '7rem', cell: ({ platform }) => (platform === 'windows' ? 'Windows' : 'Linux') },
  { header: 'User', width: '8.5rem', wide: true, cell: ({ username }) => username },
  { header: 'Smallest disk', width: '8rem', align: 'right', wide: true, cell: ({ min_disk }) => `${min_disk} GB` },
];

function OsImages() {
  const images = useRows(useInfiniteQuery(pagesOf('listOsImages', {})));
  return (
    <Section title="Operating systems" actions={<ActionButton id="defineOsImage" />}>
      <DataTable
        caption="Operating systems"
        columns={IMAGES}
        {...images}
        rowKey={({ name }) => name}
        actions={(image) => <ActionMenu of={image.displayname} actions={[{ id: 'defineOsImage', path: { os: image.name } }]} />}
        empty={{ title: 'There is no image', text: 'Define one. A VM is installed from an image.' }}
      />
    </Section>
  );
}

const POOLS: readonly Column<IpPool>[] = [
  { header: 'IP pool', cell: ({ id }) => <Text value={id} /> },
  { header: 'Network', cell: ({ cidr }) => <code>{cidr}</code> },
  { header: 'Datacenter', width: '7rem', wide: true, cell: ({ datacenter }) => datacenter },
  { header: 'Used', width: '9rem', align: 'right', cell: ({ used, total }) => `${used} of ${total}` },
];

function IpPools() {
  const pools = useRows(useInfiniteQuery(pagesOf('listIpPools', {})));
  return (
    <Section title="IP pools" actions={<ActionButton id="defineIpPool" />}>
      <DataTable
        caption="IP pools"
        columns={POOLS}
        {...pools}
        rowKey={({ id }) => id}
        actions={(pool) => <ActionMenu of={pool.id} actions={[{ id: 'defineIpPool', path: { ip_pool_id: pool.id } }]} />}
        empty={{ title: 'There is no IP pool', text: 'Define one for each datacenter. VMs take their addresses from it.' }}
      />
    </Section>
  );
}
