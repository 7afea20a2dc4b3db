CREATE TABLE "kysely_migration" ("name" varchar(255) not null primary key, "timestamp" varchar(255) not null);
CREATE TABLE "kysely_migration_lock" ("id" varchar(255) not null primary key, "is_locked" integer default 0 not null);
CREATE TABLE "accounts" (
      id text primary key not null,
      name text not null,
      credit_limit integer not null check (credit_limit >= 0),
      unpaid integer not null check (unpaid >= 0),
      held integer not null check (held >= 0),
      balance integer not null default 0 check (balance >= 0),
      balance_credit integer not null default 0 check (balance_credit >= 0),
      period_start integer not null,
      max_vms integer check (max_vms >= 0),
      max_handles integer check (max_handles >= 0),
      suspended_at integer,
      suspension_reason text,
      erased_at integer,
      isolated integer not null default 0,
      created integer not null,
      constraint suspended_with_reason check ((suspended_at is null) = (suspension_reason is null))
    ) strict;
CREATE TABLE "spending_limits" (
      id text primary key not null,
      account_id text not null references accounts (id),
      per_day integer,
      per_month integer,
      operations text
    ) strict;
CREATE TABLE "spendings" (
      limit_id text not null references spending_limits (id),
      period text not null,
      spent integer not null,
      constraint spendings_key primary key (limit_id, period)
    ) strict;
CREATE TABLE "api_keys" (
      id text primary key not null,
      account_id text not null references accounts (id),
      hash text not null unique,
      label text not null,
      mode text not null default 'sandbox',
      access text not null default 'full' check (access in ('full', 'read')),
      reads_secrets integer not null default 0,
      rate_requests integer,
      rate_seconds integer,
      limit_id text references spending_limits (id),
      allowed_networks text,
      last_used integer,
      valid_until integer,
      rotated integer not null default 0,
      created integer not null,
      revoked integer
    ) strict;
CREATE TABLE "otps" (
      account_id text primary key not null references accounts (id),
      hash text not null,
      expires integer not null,
      used integer not null
    ) strict;
CREATE TABLE "verifiers" (
      id text primary key not null,
      name text not null,
      hash text not null unique,
      created integer not null,
      revoked integer
    ) strict;
CREATE TABLE "otp_attempts" (
      verifier_id text not null,
      account_id text not null,
      since integer not null,
      failed integer not null check (failed >= 0),
      constraint otp_attempts_key primary key (verifier_id, account_id)
    ) strict;
CREATE TABLE "os_images" (
      name text primary key not null,
      displayname text not null,
      username text not null,
      platform text not null default 'linux',
      icon text,
      min_disk integer not null default 1
    ) strict;
CREATE TABLE "host_systems" (
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
      position integer not null,
      included_traffic integer
    ) strict;
CREATE TABLE "host_system_prices" (
      hostsystem text not null references host_systems (name),
      valid_from integer not null,
      prices text not null,
      applies_to text not null check (applies_to in ('new_purchases', 'all_vms')),
      constraint host_system_prices_key primary key (hostsystem, valid_from)
    ) strict;
CREATE TABLE "host_nodes" (
      name text primary key not null,
      hostsystem text not null references host_systems (name),
      cores integer not null,
      used_cores integer not null check (used_cores between 0 and cores),
      mem integer not null,
      used_mem integer not null check (used_mem between 0 and mem),
      disk integer not null,
      used_disk integer not null check (used_disk between 0 and disk),
      storage integer not null,
      used_storage integer not null check (used_storage between 0 and storage),
      retired integer not null default 0
    ) strict;
CREATE TABLE "sales" (
      id text primary key not null,
      account_id text references accounts (id),
      title text not null,
      start integer not null,
      stop integer check (stop > start),
      upgradable integer not null,
      max_volume integer not null check (max_volume > 0),
      used_volume integer not null check (used_volume between 0 and max_volume),
      ended integer,
      descriptions text not null,
      created integer not null
    ) strict;
CREATE TABLE "sale_prices" (
      sale_id text not null references sales (id),
      hostsystem text not null references host_systems (name),
      resource text not null check (resource in ('core', 'mem', 'nvme')),
      price_net integer not null check (price_net >= 0),
      constraint sale_prices_key primary key (sale_id, hostsystem, resource)
    ) strict;
CREATE TABLE "vms" (
      id integer primary key not null check (id between 10000 and 99999),
      account_id text not null,
      state text not null,
      hostsystem text not null,
      node text not null,
      cores integer not null,
      mem integer not null,
      disk integer not null,
      os text not null,
      ips integer not null,
      backup_slots integer not null,
      network_speed integer not null,
      hostname text not null,
      storage integer,
      ssh_key text,
      ssh_key_displayname text,
      default_ptr text not null,
      monthly_price integer not null,
      prices_from integer not null,
      price_basis text not null,
      sale_id text,
      changing integer not null default 0,
      booted integer,
      stopped_by_provider integer not null default 0,
      removed integer,
      created integer not null,
      name text,
      labels text not null default '{}',
      is_sample integer not null default 0,
      iso text,
      password_enabled integer,
      backup_schedule text,
      backup_due integer,
      backup_anchor integer,
      backup_failing integer not null default 0,
      abuse_status text not null default 'CLEAN',
      abuse_reason text,
      abuse_statement text
    ) strict;
CREATE TABLE "vm_backups" (
      id text primary key not null,
      vm_id integer not null references vms (id),
      description text not null,
      state text not null,
      is_scheduled integer not null,
      created integer not null,
      disk integer not null,
      os text not null,
      hostname text not null,
      ssh_key text,
      ssh_key_displayname text,
      password_enabled integer,
      repeats_failure integer not null default 0
    ) strict;
CREATE TABLE "ip_pools" (
      id text primary key not null,
      family integer not null check (family in (4, 6)),
      datacenter_name text not null,
      account_id text references accounts (id),
      cidr text not null,
      gateway text not null,
      ddos_protection text not null
    ) strict;
CREATE TABLE "ip_addresses" (
      address text primary key not null,
      pool_id text not null references ip_pools (id),
      position integer not null,
      datacenter_name text not null,
      family integer not null,
      owner text not null,
      vm_id integer references vms (id),
      pending integer not null default 0,
      added integer not null default 0,
      requires_restart integer not null default 0
    ) strict;
CREATE TABLE "rdns_entries" (
      address text primary key not null,
      assigned text not null references ip_addresses (address),
      vm_id integer not null references vms (id),
      domain text,
      changed integer not null
    ) strict;
CREATE TABLE "vm_counters" (
      vm_id integer primary key not null references vms (id),
      at integer not null,
      run text not null,
      run_time integer not null,
      cpu_time integer,
      disk_read integer,
      disk_written integer,
      received integer,
      sent integer
    ) strict;
CREATE TABLE "vm_usage" (
      vm_id integer not null references vms (id),
      at integer not null,
      cpu integer,
      mem integer,
      disk integer,
      disk_read integer,
      disk_written integer,
      received integer,
      sent integer,
      primary key (vm_id, at)
    ) strict;
CREATE TABLE "vm_traffic" (
      vm_id integer not null references vms (id),
      day integer not null,
      received integer not null,
      sent integer not null,
      primary key (vm_id, day)
    ) strict;
CREATE TABLE "ssh_keys" (
      id text primary key not null,
      account_id text not null references accounts (id),
      displayname text not null,
      public_key text not null,
      fingerprint text not null,
      created integer not null,
      constraint ssh_keys_fingerprint unique (account_id, fingerprint)
    ) strict;
CREATE TABLE "vm_user_data" (
      vm_id integer not null references vms (id),
      is_pending integer not null,
      sealed_text text not null,
      sha256 text not null,
      primary key (vm_id, is_pending)
    ) strict;
CREATE TABLE "vm_consoles" (
      hash text primary key not null,
      vm_id integer not null,
      account_id text not null,
      key_id text not null,
      expires integer not null,
      ends integer,
      seen integer
    ) strict;
CREATE TABLE "vm_monitors" (
      vm_id integer primary key not null references vms (id),
      enabled integer not null,
      port integer not null,
      status text not null,
      failures integer not null,
      next_check integer not null
    ) strict;
CREATE TABLE "tlds" (
      tld text primary key not null
    ) strict;
CREATE TABLE "tld_prices" (
      tld text not null references tlds (tld),
      valid_from integer not null,
      create_price integer not null check (create_price >= 0),
      renew_price integer not null check (renew_price >= 0),
      transfer_price integer not null check (transfer_price >= 0),
      constraint tld_prices_key primary key (tld, valid_from)
    ) strict;
CREATE TABLE "handles" (
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
      created integer not null
    ) strict;
CREATE TABLE "domains" (
      name text primary key not null,
      account_id text not null references accounts (id),
      state text not null,
      sld text not null,
      tld text not null references tlds (tld),
      handle text not null references handles (id),
      sealed_authcode text,
      terminated integer not null check (terminated in (0, 1)),
      ns1 text not null,
      ns2 text not null,
      ns3 text,
      ns4 text,
      ns5 text,
      created integer not null,
      expires integer not null check (expires > created),
      locked_until integer not null,
      hold integer not null default 0,
      transfer_lock integer not null default 0,
      dnssec_by text,
      ds_records text not null default '[]',
      delegation_settled integer not null default 0
    ) strict;
CREATE TABLE "dns_records" (
      id text primary key not null,
      domain text not null references domains (name),
      sub text not null,
      type text not null,
      data text not null,
      ttl integer not null,
      changed integer not null
    ) strict;
CREATE TABLE "zone_changes" (
      domain text primary key not null,
      version integer not null,
      next_attempt integer not null,
      claimed_until integer not null,
      attempts integer not null,
      reason text
    ) strict;
CREATE TABLE "dedicated_servers" (
      id text primary key not null,
      account_id text references accounts (id),
      state text not null check (state in ('offered', 'ordered', 'deployed', 'ended')),
      terminated integer not null check (terminated in (0, 1)),
      due integer,
      version integer not null,
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
      price integer not null check (price >= 0),
      runtime_days integer not null check (runtime_days > 0),
      hold integer not null check (hold >= 0),
      dashboard text,
      username text,
      email text,
      sealed_password text,
      created integer not null,
      ordered integer,
      deployed integer,
      ended integer,
      constraint owned_unless_offered check ((state = 'offered') = (account_id is null)),
      constraint deployed_has_renewal check (state <> 'deployed' or due is not null)
    ) strict;
CREATE TABLE "dedicated_addresses" (
      address text primary key not null,
      server_id text not null references dedicated_servers (id),
      family integer not null check (family in (4, 6)),
      gateway text not null,
      position integer not null
    ) strict;
CREATE TABLE "invoices" (
      id text primary key not null,
      account_id text not null references accounts (id),
      created integer not null,
      period_start integer not null,
      period_end integer not null,
      total integer not null,
      status text not null,
      credited integer not null default 0,
      paid integer not null default 0 check (paid >= 0),
      number text,
      constraint credited_up_to_total check (credited between 0 and total),
      constraint one_invoice_a_period unique (account_id, period_start)
    ) strict;
CREATE TABLE "positions" (
      vm_id integer not null,
      number integer not null,
      account_id text not null,
      invoice_id text references invoices (id),
      type text not null,
      start integer not null,
      stop integer check (stop >= start),
      monthly_price integer not null,
      hold integer not null,
      hostname text not null,
      hostsystem text not null,
      cores integer not null,
      mem integer not null,
      disk integer not null,
      storage integer,
      ips integer not null,
      backup_slots integer not null,
      network_speed integer not null,
      constraint positions_key primary key (vm_id, number)
    ) strict;
CREATE TABLE "charges" (
      id text primary key not null,
      account_id text not null references accounts (id),
      invoice_id text references invoices (id),
      kind text not null,
      subject text not null,
      type text not null,
      start integer not null,
      stop integer not null check (stop >= start),
      amount integer not null check (amount >= 0),
      created integer not null
    ) strict;
CREATE TABLE "billing_profiles" (
      account_id text primary key not null references accounts (id),
      company text not null,
      street text not null,
      postal_code text not null,
      city text not null,
      country text not null,
      vat_id text,
      reverse_charge integer not null,
      tax_statuses text,
      language text not null default 'en',
      constraint reverse_charge_needs_vat_id check (reverse_charge = 0 or vat_id is not null)
    ) strict;
CREATE TABLE "document_series" (
      kind text primary key not null,
      prefix text not null,
      next_number integer not null,
      digits integer not null
    ) strict;
CREATE TABLE "issued_documents" (
      id text primary key not null,
      account_id text not null references accounts (id),
      invoice_id text not null references invoices (id),
      kind text not null,
      name text,
      number text not null,
      net integer not null,
      vat integer not null,
      vat_by_rate text not null default '[]',
      reason text,
      issued integer not null,
      due integer,
      content text not null,
      pdf text,
      constraint one_number unique (number),
      constraint one_name_an_invoice unique (invoice_id, name)
    ) strict;
CREATE TABLE "logos" (
      hash text primary key not null,
      image text not null
    ) strict;
CREATE TABLE "payments" (
      id text primary key not null,
      account_id text not null references accounts (id),
      kind text not null check (kind in ('payment', 'refund')),
      name text not null,
      amount integer not null check (amount > 0),
      date text not null,
      method text not null,
      reference text not null,
      invoice_id text references invoices (id),
      unused integer not null check (unused >= 0),
      created integer not null,
      reversed integer,
      reversal_reason text,
      constraint payments_name unique (account_id, name)
    ) strict;
CREATE TABLE "payment_uses" (
      payment_id text not null references payments (id),
      used_for text not null,
      kind text not null check (kind in ('invoice', 'refund')),
      amount integer not null check (amount > 0),
      constraint payment_uses_key primary key (payment_id, used_for)
    ) strict;
CREATE TABLE "request_log_bodies" (
      month integer not null,
      account_id text not null,
      hash text not null,
      body text not null,
      size integer,
      stored integer,
      constraint request_log_bodies_key primary key (month, account_id, hash)
    ) strict;
CREATE TABLE "idempotency_keys" (
      account_id text not null,
      key_hash text not null,
      fingerprint text not null,
      state text not null,
      response text,
      created integer not null,
      constraint idempotency_keys_key primary key (account_id, key_hash)
    ) strict;
CREATE TABLE "reservations" (
      id text primary key not null,
      account_id text not null,
      delivery text not null,
      details text not null,
      subject text not null,
      owner text not null,
      key_hash text,
      created integer not null,
      extra_hold integer not null default 0,
      task text,
      task_percentage integer,
      undoing integer not null default 0
    ) strict;
CREATE TABLE "fencing_tokens" (
      subject text primary key not null,
      token integer not null
    ) strict;
CREATE TABLE "instances" (
      id text primary key not null,
      lease_until integer not null,
      serves text
    ) strict;
CREATE TABLE "clock_mark" (
      id integer primary key not null check (id = 1),
      newest integer not null
    ) strict;
CREATE TABLE "failed_jobs" (
      account_id text not null,
      work text not null,
      kind text not null,
      subject text not null,
      due integer not null,
      reason text not null,
      attempts integer not null,
      last_attempt integer not null,
      next_attempt integer not null,
      constraint failed_jobs_key primary key (account_id, work)
    ) strict;
CREATE TABLE "identity" (
      id integer primary key not null check (id = 1),
      secret_verifier text not null,
      mode text not null,
      service_id text
    ) strict;
CREATE TABLE "settings" (
      name text primary key not null,
      value text not null
    ) strict;
CREATE TABLE "catalogue_version" (
      id integer primary key not null check (id = 1),
      version text not null
    ) strict;
CREATE TABLE "faults" (
      id text primary key not null,
      operations text,
      api_key_ids text,
      effect text not null,
      times integer not null,
      remaining integer not null check (remaining between 0 and times),
      created integer not null
    ) strict;
CREATE TABLE "snapshots" (
      name text primary key not null,
      taken integer not null
    ) strict;
CREATE TABLE "snapshot_rows" (
      snapshot text not null references snapshots (name),
      position integer not null,
      table_name text not null,
      rows text not null,
      constraint snapshot_rows_key primary key (snapshot, position)
    ) strict;
CREATE TABLE "operator_tokens" (
      id text primary key not null,
      name text not null,
      hash text not null unique,
      scopes text not null,
      created integer not null,
      valid_until integer,
      revoked integer,
      created_by text
    ) strict;
CREATE TABLE "ended_sessions" (
      hash text primary key not null,
      ends integer not null
    ) strict;
CREATE TABLE "failed_authentications" (
      minute integer not null,
      api text not null,
      network text not null,
      count integer not null,
      constraint failed_authentications_key primary key (minute, api, network)
    ) strict;
CREATE TABLE "confirmations" (
      operation text not null,
      target text not null,
      actor text not null,
      requested integer not null,
      constraint confirmations_key primary key (operation, target)
    ) strict;
CREATE TABLE "audit_records" (
      id text primary key not null,
      time integer not null,
      actor text not null,
      actor_name text not null,
      address text not null,
      operation text not null,
      target text,
      state_before text not null,
      state_after text not null,
      request_id text not null,
      seq integer,
      salt text,
      content_hash text,
      hash text
    ) strict;
CREATE TABLE "audit_chain" (
      id integer primary key not null check (id = 1),
      seq integer not null,
      hash text not null,
      deleted_seq integer not null,
      deleted_hash text not null
    ) strict;
CREATE TABLE "event_feeds" (
      account_id text primary key not null references accounts (id),
      last integer not null,
      deleted integer not null,
      forgotten integer not null default 0
    ) strict;
CREATE TABLE "events" (
      id text primary key not null,
      account_id text not null references accounts (id),
      position integer not null,
      type text not null,
      subject text not null,
      data text not null,
      entered integer not null,
      constraint events_position unique (account_id, position)
    ) strict;
CREATE TABLE "webhooks" (
      id text primary key not null,
      account_id text not null references accounts (id),
      url text not null,
      description text not null,
      types text,
      enabled integer not null,
      disabled_reason text,
      failing_since integer,
      last_delivery integer not null,
      created integer not null,
      removed integer not null default 0,
      has_steps integer not null default 0,
      replay_after integer,
      replay_until integer,
      replay_number integer,
      resume_after text
    ) strict;
CREATE TABLE "webhook_secrets" (
      id text primary key not null,
      webhook_id text not null references webhooks (id),
      sealed_secret text not null,
      expires integer
    ) strict;
CREATE TABLE "webhook_deliveries" (
      webhook_id text not null references webhooks (id),
      number integer not null,
      event_id text not null references events (id),
      subject text not null,
      state text not null,
      attempts integer not null,
      first_attempt integer,
      last_attempt integer,
      status integer,
      error text,
      duration integer,
      next_attempt integer not null,
      claimed_until integer not null,
      claim text,
      created integer not null,
      blocked integer not null default 0,
      constraint webhook_deliveries_key primary key (webhook_id, number)
    ) strict;
CREATE TABLE request_log (
      account_id text not null,
      number integer not null,
      position integer not null,
      
    month integer not null,
    request_id text not null,
    date integer not null,
    success integer not null,
    endpoint text not null,
    method text not null,
    request_body text not null,
    error_type text,
    response_body text,
    response_hash text,
    status integer,
    duration integer,
    key_id text,
    idempotency_key text,
    is_replay integer,
    bought text
  ,
      feed integer,
      constraint request_log_key primary key (account_id, number)
    ) strict
  ;
CREATE TABLE rdns_changes (id integer primary key, address text not null) strict;
CREATE TABLE event_inbox (
      id integer primary key,
      account_id text not null,
      type text not null,
      subject text not null,
      facts text not null,
      webhook_id text
    ) strict
  ;
CREATE INDEX limits_of_account on spending_limits (account_id);
CREATE INDEX keys_of_account on api_keys (account_id, created, id);
CREATE INDEX accounts_by_period on accounts (period_start, id);
CREATE INDEX nodes_of_host_system on host_nodes (hostsystem);
CREATE INDEX sale_prices_of_host_system on sale_prices (hostsystem);
CREATE INDEX vms_of_account on vms (account_id);
CREATE INDEX free_addresses on ip_addresses (datacenter_name, family, owner, pool_id, position) where vm_id is null;
CREATE INDEX addresses_of_pool on ip_addresses (pool_id);
CREATE INDEX addresses_of_vm on ip_addresses (vm_id);
CREATE INDEX domains_of_account on domains (account_id, name);
CREATE INDEX records_of_name on dns_records (domain, sub);
CREATE INDEX domains_by_expiry on domains (state, expires, name);
CREATE INDEX servers_of_account on dedicated_servers (account_id, due);
CREATE INDEX servers_by_due on dedicated_servers (due, id) where due is not null;
CREATE INDEX servers_on_market on dedicated_servers (created, id) where state = 'offered';
CREATE INDEX addresses_of_server on dedicated_addresses (server_id, family, position);
CREATE INDEX positions_of_account on positions (account_id, invoice_id, start);
CREATE INDEX invoices_without_document on invoices (period_end, id) where number is null;
CREATE INDEX charges_of_account on charges (account_id, invoice_id);
CREATE INDEX documents_by_time on issued_documents (issued, id);
CREATE INDEX payments_by_time on payments (created, id);
CREATE INDEX uses_by_purpose on payment_uses (used_for);
CREATE INDEX audit_records_by_time on audit_records (time, id);
CREATE INDEX idempotency_keys_by_age on idempotency_keys (created);
CREATE INDEX bodies_of_account on request_log_bodies (account_id, stored, size);
CREATE INDEX request_log_by_feed on request_log (feed) where feed is not null;
CREATE INDEX names_of_assigned on rdns_entries (assigned);
CREATE INDEX names_of_vm on rdns_entries (vm_id);
CREATE INDEX backups_of_vm on vm_backups (vm_id);
CREATE INDEX backups_in_progress on vm_backups (vm_id) where state = 'creating';
CREATE INDEX vms_by_backup on vms (backup_due, account_id) where backup_due is not null;
CREATE INDEX vms_by_account_and_backup on vms (account_id, backup_due) where backup_due is not null;
CREATE INDEX handles_of_account on handles (account_id, created, id);
CREATE INDEX noted_events_of_account on event_inbox (account_id, id);
CREATE INDEX events_by_time on events (entered);
CREATE INDEX events_of_account_by_time on events (account_id, entered, position);
CREATE INDEX forgotten_feeds on event_feeds (account_id) where forgotten = 1;
CREATE INDEX webhooks_of_account on webhooks (account_id, created, id);
CREATE INDEX webhooks_with_steps on webhooks (account_id) where has_steps = 1;
CREATE INDEX secrets_of_webhook on webhook_secrets (webhook_id);
CREATE INDEX deliveries_by_subject on webhook_deliveries (webhook_id, subject, number) where state = 'pending';
CREATE INDEX first_deliveries on webhook_deliveries (webhook_id, next_attempt, number)
      where state = 'pending' and blocked = 0;
CREATE INDEX deliveries_of_event on webhook_deliveries (event_id);
CREATE INDEX consoles_of_account on vm_consoles (account_id);
CREATE INDEX monitors_by_time on vm_monitors (next_check) where enabled = 1;
CREATE UNIQUE INDEX otps_by_hash on otps (hash);
CREATE UNIQUE INDEX audit_records_by_seq on audit_records (seq);
CREATE UNIQUE INDEX waiting_deliveries on webhook_deliveries (webhook_id, event_id) where state = 'pending';
