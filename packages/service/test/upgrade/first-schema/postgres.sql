create table if not exists "kysely_migration" ("name" varchar(255) not null primary key, "timestamp" varchar(255) not null);
create table if not exists "kysely_migration_lock" ("id" varchar(255) not null primary key, "is_locked" integer default 0 not null);
create table "accounts" (
      id text primary key not null,
      name text not null,
      credit_limit bigint not null check (credit_limit >= 0),
      unpaid bigint not null check (unpaid >= 0),
      held bigint not null check (held >= 0),
      balance bigint not null default 0 check (balance >= 0),
      balance_credit bigint not null default 0 check (balance_credit >= 0),
      period_start bigint not null,
      max_vms bigint check (max_vms >= 0),
      max_handles bigint check (max_handles >= 0),
      suspended_at bigint,
      suspension_reason text,
      erased_at bigint,
      isolated bigint not null default 0,
      created bigint not null,
      constraint suspended_with_reason check ((suspended_at is null) = (suspension_reason is null))
    );
create table "spending_limits" (
      id text primary key not null,
      account_id text not null references accounts (id),
      per_day bigint,
      per_month bigint,
      operations text
    );
create table "spendings" (
      limit_id text not null references spending_limits (id),
      period text not null,
      spent bigint not null,
      constraint spendings_key primary key (limit_id, period)
    );
create table "api_keys" (
      id text primary key not null,
      account_id text not null references accounts (id),
      hash text not null unique,
      label text not null,
      mode text not null default 'sandbox',
      access text not null default 'full' check (access in ('full', 'read')),
      reads_secrets bigint not null default 0,
      rate_requests bigint,
      rate_seconds bigint,
      limit_id text references spending_limits (id),
      allowed_networks text,
      last_used bigint,
      valid_until bigint,
      rotated bigint not null default 0,
      created bigint not null,
      revoked bigint
    );
create table "otps" (
      account_id text primary key not null references accounts (id),
      hash text not null,
      expires bigint not null,
      used bigint not null
    );
create table "verifiers" (
      id text primary key not null,
      name text not null,
      hash text not null unique,
      created bigint not null,
      revoked bigint
    );
create table "otp_attempts" (
      verifier_id text not null,
      account_id text not null,
      since bigint not null,
      failed bigint not null check (failed >= 0),
      constraint otp_attempts_key primary key (verifier_id, account_id)
    );
create table "os_images" (
      name text primary key not null,
      displayname text not null,
      username text not null,
      platform text not null default 'linux',
      icon text,
      min_disk bigint not null default 1
    );
create table "host_systems" (
      name text primary key not null,
      displayname text not null,
      datacenter_name text not null,
      datacenter_displayname text not null,
      datacenter_country text not null,
      datacenter_city text not null,
      processor text not null,
      memory text not null,
      nvme_hard_drives text not null,
      ranges text not null,
      position bigint not null,
      included_traffic bigint
    );
create table "host_system_prices" (
      hostsystem text not null references host_systems (name),
      valid_from bigint not null,
      prices text not null,
      applies_to text not null check (applies_to in ('new_purchases', 'all_vms')),
      constraint host_system_prices_key primary key (hostsystem, valid_from)
    );
create table "host_nodes" (
      name text primary key not null,
      hostsystem text not null references host_systems (name),
      cores bigint not null,
      used_cores bigint not null check (used_cores between 0 and cores),
      mem bigint not null,
      used_mem bigint not null check (used_mem between 0 and mem),
      disk bigint not null,
      used_disk bigint not null check (used_disk between 0 and disk),
      storage bigint not null,
      used_storage bigint not null check (used_storage between 0 and storage),
      retired bigint not null default 0
    );
create table "sales" (
      id text primary key not null,
      account_id text references accounts (id),
      title text not null,
      start bigint not null,
      stop bigint check (stop > start),
      upgradable bigint not null,
      max_volume bigint not null check (max_volume > 0),
      used_volume bigint not null check (used_volume between 0 and max_volume),
      ended bigint,
      descriptions text not null,
      created bigint not null
    );
create table "sale_prices" (
      sale_id text not null references sales (id),
      hostsystem text not null references host_systems (name),
      resource text not null check (resource in ('core', 'mem', 'nvme')),
      price_net bigint not null check (price_net >= 0),
      constraint sale_prices_key primary key (sale_id, hostsystem, resource)
    );
create table "vms" (
      id bigint primary key not null check (id between 10000 and 99999),
      account_id text not null,
      state text not null,
      hostsystem text not null,
      node text not null,
      cores bigint not null,
      mem bigint not null,
      disk bigint not null,
      os text not null,
      ips bigint not null,
      backup_slots bigint not null,
      network_speed bigint not null,
      hostname text not null,
      storage bigint,
      ssh_key text,
      ssh_key_displayname text,
      default_ptr text not null,
      monthly_price bigint not null,
      prices_from bigint not null,
      price_basis text not null,
      sale_id text,
      changing bigint not null default 0,
      booted bigint,
      stopped_by_provider bigint not null default 0,
      removed bigint,
      created bigint not null,
      name text,
      labels text not null default '{}',
      is_sample bigint not null default 0,
      iso text,
      password_enabled bigint,
      backup_schedule text,
      backup_due bigint,
      backup_anchor bigint,
      backup_failing bigint not null default 0,
      abuse_status text not null default 'CLEAN',
      abuse_reason text,
      abuse_statement text
    );
create table "vm_backups" (
      id text primary key not null,
      vm_id bigint not null references vms (id),
      description text not null,
      state text not null,
      is_scheduled bigint not null,
      created bigint not null,
      disk bigint not null,
      os text not null,
      hostname text not null,
      ssh_key text,
      ssh_key_displayname text,
      password_enabled bigint,
      repeats_failure bigint not null default 0
    );
create table "ip_pools" (
      id text primary key not null,
      family bigint not null check (family in (4, 6)),
      datacenter_name text not null,
      account_id text references accounts (id),
      cidr text not null,
      gateway text not null,
      ddos_protection text not null
    );
create table "ip_addresses" (
      address text primary key not null,
      pool_id text not null references ip_pools (id),
      position bigint not null,
      datacenter_name text not null,
      family bigint not null,
      owner text not null,
      vm_id bigint references vms (id),
      pending bigint not null default 0,
      added bigint not null default 0,
      requires_restart bigint not null default 0
    );
create table "rdns_entries" (
      address text primary key not null,
      assigned text not null references ip_addresses (address),
      vm_id bigint not null references vms (id),
      domain text,
      changed bigint not null
    );
create table "vm_counters" (
      vm_id bigint primary key not null references vms (id),
      at bigint not null,
      run text not null,
      run_time bigint not null,
      cpu_time bigint,
      disk_read bigint,
      disk_written bigint,
      received bigint,
      sent bigint
    );
create table "vm_usage" (
      vm_id bigint not null references vms (id),
      at bigint not null,
      cpu bigint,
      mem bigint,
      disk bigint,
      disk_read bigint,
      disk_written bigint,
      received bigint,
      sent bigint,
      primary key (vm_id, at)
    );
create table "vm_traffic" (
      vm_id bigint not null references vms (id),
      day bigint not null,
      received bigint not null,
      sent bigint not null,
      primary key (vm_id, day)
    );
create table "ssh_keys" (
      id text primary key not null,
      account_id text not null references accounts (id),
      displayname text not null,
      public_key text not null,
      fingerprint text not null,
      created bigint not null,
      constraint ssh_keys_fingerprint unique (account_id, fingerprint)
    );
create table "vm_user_data" (
      vm_id bigint not null references vms (id),
      is_pending bigint not null,
      sealed_text text not null,
      sha256 text not null,
      primary key (vm_id, is_pending)
    );
create table "vm_consoles" (
      hash text primary key not null,
      vm_id bigint not null,
      account_id text not null,
      key_id text not null,
      expires bigint not null,
      ends bigint,
      seen bigint
    );
create table "vm_monitors" (
      vm_id bigint primary key not null references vms (id),
      enabled bigint not null,
      port bigint not null,
      status text not null,
      failures bigint not null,
      next_check bigint not null
    );
create table "tlds" (
      tld text primary key not null
    );
create table "tld_prices" (
      tld text not null references tlds (tld),
      valid_from bigint not null,
      create_price bigint not null check (create_price >= 0),
      renew_price bigint not null check (renew_price >= 0),
      transfer_price bigint not null check (transfer_price >= 0),
      constraint tld_prices_key primary key (tld, valid_from)
    );
create table "handles" (
      id text primary key not null,
      account_id text not null references accounts (id),
      type text not null,
      gender text not null,
      firstname text not null,
      lastname text not null,
      organisation text,
      street text not null,
      number text not null,
      zipcode text not null,
      city text not null,
      region text not null,
      countrycode text not null,
      email text not null,
      phone text,
      fax text,
      created bigint not null
    );
create table "domains" (
      name text primary key not null,
      account_id text not null references accounts (id),
      state text not null,
      sld text not null,
      tld text not null references tlds (tld),
      handle text not null references handles (id),
      sealed_authcode text,
      terminated bigint not null check (terminated in (0, 1)),
      ns1 text not null,
      ns2 text not null,
      ns3 text,
      ns4 text,
      ns5 text,
      created bigint not null,
      expires bigint not null check (expires > created),
      locked_until bigint not null,
      hold bigint not null default 0,
      transfer_lock bigint not null default 0,
      dnssec_by text,
      ds_records text not null default '[]',
      delegation_settled bigint not null default 0
    );
create table "dns_records" (
      id text primary key not null,
      domain text not null references domains (name),
      sub text not null,
      type text not null,
      data text not null,
      ttl bigint not null,
      changed bigint not null
    );
create table "zone_changes" (
      domain text primary key not null,
      version bigint not null,
      next_attempt bigint not null,
      claimed_until bigint not null,
      attempts bigint not null,
      reason text
    );
create table "dedicated_servers" (
      id text primary key not null,
      account_id text references accounts (id),
      state text not null check (state in ('offered', 'ordered', 'deployed', 'ended')),
      terminated bigint not null check (terminated in (0, 1)),
      due bigint,
      version bigint not null,
      offered_to text references accounts (id),
      offered_ips text,
      datacenter_name text not null,
      datacenter_displayname text not null,
      datacenter_country text not null,
      datacenter_city text not null,
      hardware text not null,
      network text not null,
      status_type text not null,
      status_description text not null,
      price bigint not null check (price >= 0),
      runtime_days bigint not null check (runtime_days > 0),
      hold bigint not null check (hold >= 0),
      dashboard text,
      username text,
      email text,
      sealed_password text,
      created bigint not null,
      ordered bigint,
      deployed bigint,
      ended bigint,
      constraint owned_unless_offered check ((state = 'offered') = (account_id is null)),
      constraint deployed_has_renewal check (state <> 'deployed' or due is not null)
    );
create table "dedicated_addresses" (
      address text primary key not null,
      server_id text not null references dedicated_servers (id),
      family bigint not null check (family in (4, 6)),
      gateway text not null,
      position bigint not null
    );
create table "invoices" (
      id text primary key not null,
      account_id text not null references accounts (id),
      created bigint not null,
      period_start bigint not null,
      period_end bigint not null,
      total bigint not null,
      status text not null,
      credited bigint not null default 0,
      paid bigint not null default 0 check (paid >= 0),
      number text,
      constraint credited_up_to_total check (credited between 0 and total),
      constraint one_invoice_a_period unique (account_id, period_start)
    );
create table "positions" (
      vm_id bigint not null,
      number bigint not null,
      account_id text not null,
      invoice_id text references invoices (id),
      type text not null,
      start bigint not null,
      stop bigint check (stop >= start),
      monthly_price bigint not null,
      hold bigint not null,
      hostname text not null,
      hostsystem text not null,
      cores bigint not null,
      mem bigint not null,
      disk bigint not null,
      storage bigint,
      ips bigint not null,
      backup_slots bigint not null,
      network_speed bigint not null,
      constraint positions_key primary key (vm_id, number)
    );
create table "charges" (
      id text primary key not null,
      account_id text not null references accounts (id),
      invoice_id text references invoices (id),
      kind text not null,
      subject text not null,
      type text not null,
      start bigint not null,
      stop bigint not null check (stop >= start),
      amount bigint not null check (amount >= 0),
      created bigint not null
    );
create table "billing_profiles" (
      account_id text primary key not null references accounts (id),
      company text not null,
      street text not null,
      postal_code text not null,
      city text not null,
      country text not null,
      vat_id text,
      reverse_charge bigint not null,
      tax_statuses text,
      language text not null default 'en',
      constraint reverse_charge_needs_vat_id check (reverse_charge = 0 or vat_id is not null)
    );
create table "document_series" (
      kind text primary key not null,
      prefix text not null,
      next_number bigint not null,
      digits bigint not null
    );
create table "issued_documents" (
      id text primary key not null,
      account_id text not null references accounts (id),
      invoice_id text not null references invoices (id),
      kind text not null,
      name text,
      number text not null,
      net bigint not null,
      vat bigint not null,
      vat_by_rate text not null default '[]',
      reason text,
      issued bigint not null,
      due bigint,
      content text not null,
      pdf text,
      constraint one_number unique (number),
      constraint one_name_an_invoice unique (invoice_id, name)
    );
create table "logos" (
      hash text primary key not null,
      image text not null
    );
create table "payments" (
      id text primary key not null,
      account_id text not null references accounts (id),
      kind text not null check (kind in ('payment', 'refund')),
      name text not null,
      amount bigint not null check (amount > 0),
      date text not null,
      method text not null,
      reference text not null,
      invoice_id text references invoices (id),
      unused bigint not null check (unused >= 0),
      created bigint not null,
      reversed bigint,
      reversal_reason text,
      constraint payments_name unique (account_id, name)
    );
create table "payment_uses" (
      payment_id text not null references payments (id),
      used_for text not null,
      kind text not null check (kind in ('invoice', 'refund')),
      amount bigint not null check (amount > 0),
      constraint payment_uses_key primary key (payment_id, used_for)
    );
create table "request_log_bodies" (
      month bigint not null,
      account_id text not null,
      hash text not null,
      body text not null,
      size bigint,
      stored bigint,
      constraint request_log_bodies_key primary key (month, account_id, hash)
    );
create table "idempotency_keys" (
      account_id text not null,
      key_hash text not null,
      fingerprint text not null,
      state text not null,
      response text,
      created bigint not null,
      constraint idempotency_keys_key primary key (account_id, key_hash)
    );
create table "reservations" (
      id text primary key not null,
      account_id text not null,
      delivery text not null,
      details text not null,
      subject text not null,
      owner text not null,
      key_hash text,
      created bigint not null,
      extra_hold bigint not null default 0,
      task text,
      task_percentage bigint,
      undoing bigint not null default 0
    );
create table "fencing_tokens" (
      subject text primary key not null,
      token bigint not null
    );
create table "instances" (
      id text primary key not null,
      lease_until bigint not null,
      serves text
    );
create table "clock_mark" (
      id bigint primary key not null check (id = 1),
      newest bigint not null
    );
create table "failed_jobs" (
      account_id text not null,
      work text not null,
      kind text not null,
      subject text not null,
      due bigint not null,
      reason text not null,
      attempts bigint not null,
      last_attempt bigint not null,
      next_attempt bigint not null,
      constraint failed_jobs_key primary key (account_id, work)
    );
create table "identity" (
      id bigint primary key not null check (id = 1),
      secret_verifier text not null,
      mode text not null,
      service_id text
    );
create table "settings" (
      name text primary key not null,
      value text not null
    );
create table "catalogue_version" (
      id bigint primary key not null check (id = 1),
      version text not null
    );
create table "faults" (
      id text primary key not null,
      operations text,
      api_key_ids text,
      effect text not null,
      times bigint not null,
      remaining bigint not null check (remaining between 0 and times),
      created bigint not null
    );
create table "snapshots" (
      name text primary key not null,
      taken bigint not null
    );
create table "snapshot_rows" (
      snapshot text not null references snapshots (name),
      position bigint not null,
      table_name text not null,
      rows text not null,
      constraint snapshot_rows_key primary key (snapshot, position)
    );
create table "operator_tokens" (
      id text primary key not null,
      name text not null,
      hash text not null unique,
      scopes text not null,
      created bigint not null,
      valid_until bigint,
      revoked bigint,
      created_by text
    );
create table "ended_sessions" (
      hash text primary key not null,
      ends bigint not null
    );
create table "failed_authentications" (
      minute bigint not null,
      api text not null,
      network text not null,
      count bigint not null,
      constraint failed_authentications_key primary key (minute, api, network)
    );
create table "confirmations" (
      operation text not null,
      target text not null,
      actor text not null,
      requested bigint not null,
      constraint confirmations_key primary key (operation, target)
    );
create table "audit_records" (
      id text primary key not null,
      time bigint not null,
      actor text not null,
      actor_name text not null,
      address text not null,
      operation text not null,
      target text,
      state_before text not null,
      state_after text not null,
      request_id text not null,
      seq bigint,
      salt text,
      content_hash text,
      hash text
    );
create table "audit_chain" (
      id bigint primary key not null check (id = 1),
      seq bigint not null,
      hash text not null,
      deleted_seq bigint not null,
      deleted_hash text not null
    );
create table "event_feeds" (
      account_id text primary key not null references accounts (id),
      last bigint not null,
      deleted bigint not null,
      forgotten bigint not null default 0
    );
create table "events" (
      id text primary key not null,
      account_id text not null references accounts (id),
      position bigint not null,
      type text not null,
      subject text not null,
      data text not null,
      entered bigint not null,
      constraint events_position unique (account_id, position)
    );
create table "webhooks" (
      id text primary key not null,
      account_id text not null references accounts (id),
      url text not null,
      description text not null,
      types text,
      enabled bigint not null,
      disabled_reason text,
      failing_since bigint,
      last_delivery bigint not null,
      created bigint not null,
      removed bigint not null default 0,
      has_steps bigint not null default 0,
      replay_after bigint,
      replay_until bigint,
      replay_number bigint,
      resume_after text
    );
create table "webhook_secrets" (
      id text primary key not null,
      webhook_id text not null references webhooks (id),
      sealed_secret text not null,
      expires bigint
    );
create table "webhook_deliveries" (
      webhook_id text not null references webhooks (id),
      number bigint not null,
      event_id text not null references events (id),
      subject text not null,
      state text not null,
      attempts bigint not null,
      first_attempt bigint,
      last_attempt bigint,
      status bigint,
      error text,
      duration bigint,
      next_attempt bigint not null,
      claimed_until bigint not null,
      claim text,
      created bigint not null,
      blocked bigint not null default 0,
      constraint webhook_deliveries_key primary key (webhook_id, number)
    );
create sequence request_log_feed as bigint;
create table request_log (
      account_id text not null,
      number bigint not null,
      position bigint not null,
      
    month bigint not null,
    request_id text not null,
    date bigint not null,
    success bigint not null,
    endpoint text not null,
    method text not null,
    request_body text not null,
    error_type text,
    response_body text,
    response_hash text,
    status bigint,
    duration bigint,
    key_id text,
    idempotency_key text,
    is_replay bigint,
    bought text
  ,
      feed bigint default nextval('request_log_feed'),
      constraint request_log_key primary key (account_id, number, month)
    ) partition by list (month);
create table rdns_changes (id bigint generated always as identity primary key, address text not null);
create table event_inbox (
      id bigint generated by default as identity primary key,
      account_id text not null,
      type text not null,
      subject text not null,
      facts text not null,
      webhook_id text
    );
create index limits_of_account on spending_limits (account_id);
create index keys_of_account on api_keys (account_id, created, id);
create index accounts_by_period on accounts (period_start, id);
create index nodes_of_host_system on host_nodes (hostsystem);
create index sale_prices_of_host_system on sale_prices (hostsystem);
create index vms_of_account on vms (account_id);
create index free_addresses on ip_addresses (datacenter_name, family, owner, pool_id, position) where vm_id is null;
create index addresses_of_pool on ip_addresses (pool_id);
create index addresses_of_vm on ip_addresses (vm_id);
create index domains_of_account on domains (account_id, name);
create index records_of_name on dns_records (domain, sub);
create index domains_by_expiry on domains (state, expires, name);
create index servers_of_account on dedicated_servers (account_id, due);
create index servers_by_due on dedicated_servers (due, id) where due is not null;
create index servers_on_market on dedicated_servers (created, id) where state = 'offered';
create index addresses_of_server on dedicated_addresses (server_id, family, position);
create index positions_of_account on positions (account_id, invoice_id, start);
create index invoices_without_document on invoices (period_end, id) where number is null;
create index charges_of_account on charges (account_id, invoice_id);
create index documents_by_time on issued_documents (issued, id);
create index payments_by_time on payments (created, id);
create index uses_by_purpose on payment_uses (used_for);
create index audit_records_by_time on audit_records (time, id);
create index idempotency_keys_by_age on idempotency_keys (created);
create index bodies_of_account on request_log_bodies (account_id, stored, size);
create index request_log_by_feed on request_log (feed) where feed is not null;
create index names_of_assigned on rdns_entries (assigned);
create index names_of_vm on rdns_entries (vm_id);
create index backups_of_vm on vm_backups (vm_id);
create index backups_in_progress on vm_backups (vm_id) where state = 'creating';
create index vms_by_backup on vms (backup_due, account_id) where backup_due is not null;
create index vms_by_account_and_backup on vms (account_id, backup_due) where backup_due is not null;
create index handles_of_account on handles (account_id, created, id);
create index noted_events_of_account on event_inbox (account_id, id);
create index events_by_time on events (entered);
create index events_of_account_by_time on events (account_id, entered, position);
create index forgotten_feeds on event_feeds (account_id) where forgotten = 1;
create index webhooks_of_account on webhooks (account_id, created, id);
create index webhooks_with_steps on webhooks (account_id) where has_steps = 1;
create index secrets_of_webhook on webhook_secrets (webhook_id);
create index deliveries_by_subject on webhook_deliveries (webhook_id, subject, number) where state = 'pending';
create index first_deliveries on webhook_deliveries (webhook_id, next_attempt, number)
      where state = 'pending' and blocked = 0;
create index deliveries_of_event on webhook_deliveries (event_id);
create index consoles_of_account on vm_consoles (account_id);
create index monitors_by_time on vm_monitors (next_check) where enabled = 1;
create unique index otps_by_hash on otps (hash);
create unique index audit_records_by_seq on audit_records (seq);
create unique index waiting_deliveries on webhook_deliveries (webhook_id, event_id) where state = 'pending';
create table request_log_inbox (
      id bigint generated always as identity primary key,
      account_id text not null,
      size bigint not null,
      
    month bigint not null,
    request_id text not null,
    date bigint not null,
    success bigint not null,
    endpoint text not null,
    method text not null,
    request_body text not null,
    error_type text,
    response_body text,
    response_hash text,
    status bigint,
    duration bigint,
    key_id text,
    idempotency_key text,
    is_replay bigint,
    bought text
  
    );
create index inbox_of_account on request_log_inbox (account_id, id);
create unlogged table event_windows (
      name text primary key,
      ends bigint not null,
      count bigint not null
    );
create table request_log_202611 partition of request_log for values in (202611);
create table request_log_202612 partition of request_log for values in (202612);
create table request_log_202701 partition of request_log for values in (202701);
