import type { NumberSeries, RateLimit } from '@reseller/operator-client';
import { useQuery } from '@tanstack/react-query';

import { queryOf } from '../api/queries.ts';
import { ActionButton } from '../ui/Actions.tsx';
import { Facts, Failure, Instant, PageHead, Section } from '../ui/controls.tsx';
import { labelOf } from '../ui/Fields.tsx';

export function Settings() {
  return (
    <>
      <PageHead title="Settings" />
      <div className="page">
        <Service />
        <Seller />
        <Series />
      </div>
    </>
  );
}

function Service() {
  const { data: settings, error } = useQuery(queryOf('getSettings', {}));
  if (error) return <Failure error={error} />;
  if (!settings) return null;
  const { request_log_retention: log, default_quotas: quotas } = settings;
  return (
    <Section title="Service">
      <table className="settings" aria-label="Settings of the service">
        <tbody>
          <Setting name="Mode" value={settings.mode} />
          <Setting
            name="Extension"
            value={
              settings.extension
                ? 'on: resellers may list, stop, change and delete what they bought'
                : 'off: resellers cannot list, stop or delete their VMs'
            }
          />
          <Setting
            name="Rate limit"
            value={limitOf(settings.rate_limit)}
            action={<ActionButton id="setDefaultRateLimit" label="Change" />}
          />
          <Setting
            name="VAT rates"
            value={
              <>
                {settings.vat_rates.map(({ basis_points, valid_from }) => (
                  <div key={valid_from}>
                    {basis_points / 100} % from <Instant at={valid_from} day />
                  </div>
                ))}
                <div className="explanation muted">Days in {settings.time_zone}</div>
              </>
            }
            action={<ActionButton id="setVatRates" label="Change" />}
          />
          <Setting
            name="Quotas of new accounts"
            value={`${quotas.vms ?? 'any number of'} VMs, ${quotas.handles ?? 'any number of'} handles, ${quotas.records_per_domain ?? 'any number of'} DNS records of each domain`}
            action={<ActionButton id="setDefaultQuotas" label="Change" />}
          />
          <Setting
            name="Request log"
            value={`${log.months === null ? 'all months' : `${log.months} months`}, ${log.bytes_per_account === null ? 'any size' : `${sizeOf(log.bytes_per_account)} for each account`}`}
            action={<ActionButton id="setRequestLogRetention" label="Change" />}
          />
          <Setting
            name="Audit"
            value={settings.audit_retention_months === null ? 'kept' : `${settings.audit_retention_months} months`}
            action={<ActionButton id="setAuditRetention" label="Change" />}
          />
          <Setting
            name="Second operator"
            value={settings.second_operator ? 'required' : 'not required'}
            action={<ActionButton id="setSecondOperator" label="Change" />}
          />
          <Setting
            name="Quarantine"
            value={`VM identifiers ${settings.vm_identifier_quarantine_days} days, addresses ${settings.address_quarantine_days} days`}
            action={<ActionButton id="setVmIdentifierQuarantine" label="Change" />}
          />
        </tbody>
      </table>
    </Section>
  );
}

const MIB = 1_048_576;

/** `512 MiB`, if the number of bytes is whole in this unit. */
function sizeOf(bytes: number): string {
  return bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes} bytes`;
}

interface SettingProps {
  readonly name: string;
  readonly value: React.ReactNode;
  readonly action?: React.ReactNode;
}

function Setting({ name, value, action }: SettingProps) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{value}</td>
      <td className="right">{action}</td>
    </tr>
  );
}

function limitOf(limit: RateLimit | null): string {
  return limit === null ? 'none' : `${limit.requests} requests in ${limit.seconds} s for each key`;
}

function Seller() {
  const { data } = useQuery(queryOf('getSeller', {}));
  const seller = data?.seller;
  return (
    <Section title="Seller on invoices" actions={<ActionButton id="setSeller" label="Edit" part="seller" />}>
      {seller ? (
        <Facts items={Object.entries(seller).map(([name, value]) => [labelOf(name), value === null ? 'none' : String(value)] as const)} />
      ) : (
        <p className="muted">Not set. No invoice can be issued without it.</p>
      )}
    </Section>
  );
}

function Series() {
  const { data } = useQuery(queryOf('getDocumentSeries', {}));
  return (
    <Section title="Numbers of documents" actions={<ActionButton id="setDocumentSeries" label="Edit" />}>
      {data && (
        <Facts
          items={[
            ['Next invoice', nextOf(data.invoices)],
            ['Next credit note', nextOf(data.credit_notes)],
          ]}
        />
      )}
    </Section>
  );
}

function nextOf({ prefix, next_number, digits }: NumberSeries): string {
  return prefix + String(next_number).padStart(digits, '0');
}
