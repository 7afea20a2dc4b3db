import type { Account, ApiKey } from '@reseller/operator-client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';

import { pagesOf, queryOf } from '../api/queries.ts';
import { useMayUse } from '../app/session.ts';
import { ActionButton, ActionMenu } from '../ui/Actions.tsx';
import { Button, Facts, Failure, Instant, PageHead, Section, Status, Text } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { useRows } from '../ui/list.tsx';
import { Sections } from '../ui/Sections.tsx';
import { visible } from '../ui/visible.ts';
import { Timeline, Webhooks } from './AccountEvents.tsx';
import { AccountOwns } from './AccountOwns.tsx';
import { accountActions, stateOf } from './Accounts.tsx';
import { Credit } from './Credit.tsx';

/** Everything about one account. */
export function AccountPage({ id }: { readonly id: string }) {
  const account = useQuery({ ...queryOf('getAccount', { path: { account_id: id } }), refetchInterval: 5_000 });
  const { data } = account;
  return (
    <>
      <PageHead title={visible(data?.name ?? 'Account')} back={{ href: '/accounts', label: 'Accounts' }}>
        <ExportButton id={id} />
        {data && <ActionMenu of={data.name} actions={accountActions(data)} />}
      </PageHead>
      {account.error !== null && <Failure error={account.error} />}
      {data && (
        <Sections>
          <Facts
            items={[
              ['State', <Status key="state" value={stateOf(data)} />],
              ...(data.suspension_reason === null ? [] : ([['Reason', data.suspension_reason]] as const)),
              ['Identifier', <code key="id">{data.id}</code>],
              ['Created', <Instant key="created" at={data.created} />],
              ['VMs at most', data.quotas.vms ?? 'no limit'],
              ['Handles at most', data.quotas.handles ?? 'no limit'],
              ['DNS records of each domain at most', data.quotas.records_per_domain ?? 'no limit'],
            ]}
          />
          <Credit accountId={id} />
          <AccountOwns id={id} name={data.name} />
          <Keys account={data} />
          <BillingProfile account={data} />
          <Webhooks accountId={id} />
          <Timeline accountId={id} />
        </Sections>
      )}
    </>
  );
}

/** The export is personal data, and reading it leaves a record, so it is read only when it is asked for. */
function ExportButton({ id }: { readonly id: string }) {
  const mayExport = useMayUse('exportAccount');
  const query = useQuery({ ...queryOf('exportAccount', { path: { account_id: id } }), enabled: false, gcTime: 0 });
  if (!mayExport) return null;
  async function download(): Promise<void> {
    const { data } = await query.refetch();
    if (data === undefined) return;
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' }));
    link.download = `account-${id}.json`;
    link.click();
    URL.revokeObjectURL(link.href);
  }
  return (
    <Button onClick={() => void download()} disabled={query.isFetching}>
      Export
    </Button>
  );
}

const KEY_COLUMNS: readonly Column<ApiKey>[] = [
  { header: 'Key', cell: ({ label }) => <Text value={label} /> },
  { header: 'State', width: '6.5rem', cell: ({ revoked }) => <Status value={revoked === null ? 'valid' : 'revoked'} /> },
  { header: 'Access', width: '8rem', cell: ({ access }) => access },
  {
    header: 'Rate limit',
    width: '9rem',
    wide: true,
    cell: ({ rate_limit: limit }) => (limit === null ? 'default' : `${limit.requests} in ${limit.seconds} s`),
  },
  { header: 'Expires', width: '12rem', wide: true, cell: ({ valid_until }) => <Instant at={valid_until} /> },
  { header: 'Last used', width: '12rem', wide: true, cell: ({ last_used }) => <Instant at={last_used} /> },
];

function Keys({ account }: { readonly account: Account }) {
  const path = { account_id: account.id };
  const { rows, isLoading } = useRows(useInfiniteQuery(pagesOf('listApiKeys', { path })));
  return (
    <Section title="API keys" actions={<ActionButton id="issueApiKey" label="Issue a key" path={path} target={account.name} />}>
      <DataTable
        caption="API keys"
        columns={KEY_COLUMNS}
        rows={rows}
        isLoading={isLoading}
        rowKey={(key) => key.id}
        actions={(key) => {
          const common = { path: { api_key_id: key.id }, target: key.label };
          return (
            <ActionMenu
              of={key.label}
              actions={[
                { id: 'rotateApiKey', ...common },
                { id: 'setApiKeyRateLimit', ...common },
                { id: 'setApiKeyRestrictions', ...common },
                { id: 'revokeApiKey', ...common },
              ]}
            />
          );
        }}
        empty={{ title: 'The account has no API key', text: 'Issue one, and give it to the reseller. It is shown only once.' }}
      />
    </Section>
  );
}

function BillingProfile({ account: { id, name } }: { readonly account: Account }) {
  const path = { account_id: id };
  const { data } = useQuery(queryOf('getBillingProfile', { path }));
  const profile = data?.billing_profile;
  return (
    <Section
      title="Billing profile"
      actions={<ActionButton id="setBillingProfile" label="Edit" path={path} target={name} part="billing_profile" />}
    >
      {profile ? (
        <Facts
          items={[
            ['Company', profile.company],
            ['Street', profile.street],
            ['City', `${profile.postal_code} ${profile.city}`],
            ['Country', profile.country],
            ['VAT ID', profile.vat_id ?? 'none'],
            ['Reverse charge', profile.reverse_charge ? 'yes' : 'no'],
            ['Tax status from', profile.tax_statuses.map(({ valid_from, country }) => `${valid_from} (${country})`).join(', ')],
            ['Language', profile.language],
          ]}
        />
      ) : (
        <p className="muted">None. Invoices have the name of the account as recipient.</p>
      )}
    </Section>
  );
}
