{if $error}
  <p class="alert alert-warning">{$error|escape}</p>
{else}
  <dl>
    <dt>Status</dt><dd>{$status|escape}</dd>
    <dt>Address</dt><dd>{$address|escape}</dd>
    <dt>Hostname</dt><dd>{$hostname|escape}</dd>
    <dt>Operating system</dt><dd>{$system|escape}</dd>
    <dt>Resources</dt><dd>{$cores|escape} cores, {$mem|escape} MB memory, {$disk|escape} GB disk</dd>
  </dl>
{/if}
