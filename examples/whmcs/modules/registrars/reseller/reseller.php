<?php

/** The registrar module: WHMCS calls these functions by their names. It shares `lib/Api.php` with the server module. */

declare(strict_types=1);

use Reseller\Whmcs\Api;
use Reseller\Whmcs\ApiError;
use WHMCS\Database\Capsule;
use WHMCS\Domain\TopLevel\ImportItem;
use WHMCS\Domains\DomainLookup\ResultsList;
use WHMCS\Domains\DomainLookup\SearchResult;
use WHMCS\Results\ResultsList as TldList;

use function Reseller\Whmcs\installationName;

if (!defined('WHMCS')) {
    exit('WHMCS calls this file.');
}

require_once __DIR__ . '/../../servers/reseller/lib/Api.php';

function reseller_getConfigArray(): array
{
    return [
        'FriendlyName' => ['Type' => 'System', 'Value' => 'Reseller Infrastructure Service'],
        'BaseUrl' => ['FriendlyName' => 'Address of the API', 'Type' => 'text', 'Description' => 'Such as https://api.example.com'],
        'ApiKey' => ['FriendlyName' => 'API key', 'Type' => 'password'],
        'Installation' => ['FriendlyName' => 'Name of this WHMCS', 'Type' => 'text', 'Default' => 'whmcs'],
        'Gender' => [
            'FriendlyName' => 'Gender of contacts',
            'Type' => 'text',
            'Default' => 'UNKNOWN',
            'Description' => 'The API requires a value, and WHMCS knows none',
        ],
        'ImportedDomains' => [
            'FriendlyName' => 'Imported domains',
            'Type' => 'yesno',
            'Description' => 'Manage domains of the account that no order of this WHMCS bought. Leave it off if several WHMCS have the same account',
        ],
        'PersonOfCompany' => [
            'FriendlyName' => 'Companies',
            'Type' => 'yesno',
            'Description' => 'Register the domains of companies to their contact person. The API has no field for a company. Without this, their orders are refused',
        ],
    ];
}

function reseller_RegisterDomain(array $params): array
{
    return reseller_domain($params, fn (Api $api, string $domain) => reseller_buyDomain($api, $domain, $params, []));
}

function reseller_TransferDomain(array $params): array
{
    return reseller_domain(
        $params,
        fn (Api $api, string $domain) => reseller_buyDomain($api, $domain, $params, ['authcode' => $params['eppcode']]),
    );
}

/**
 * Renews until the end of the period that the client has paid: from the expiry that WHMCS knows, `regperiod` years. So a second click buys
 * nothing, and neither does a payment after the service has renewed the domain by itself.
 */
function reseller_RenewDomain(array $params): array
{
    return reseller_managed($params, function (Api $api, string $domain, array $info) use ($params) {
        $known = reseller_knownExpiry($params);
        if ($known === null) {
            throw new RuntimeException('WHMCS does not know when the domain expires. Synchronise it with the registrar, then renew it.');
        }
        if ($info['domain']['terminated']) {
            $api->change('POST', "/domain/$domain/undelete");
        }
        $years = (int) $params['regperiod'];
        // A month less, because the date of WHMCS can be some days away from that of the registry.
        $paid = gmdate('Y-m-d', strtotime("$known UTC +$years years -1 month"));
        for ($renewed = 0; $renewed < $years && ($expiry = reseller_expiry($api->get("/domain/$domain/info"))) < $paid; $renewed++) {
            $api->change('POST', "/domain/$domain/renew", ['expire' => $expiry], 'whmcs-renew-' . reseller_order($params) . "-$expiry");
        }
    });
}

/** Cancels the domain at the end of its term. */
function reseller_RequestDelete(array $params): array
{
    return reseller_managed($params, function (Api $api, string $domain, array $info) {
        if (!$info['domain']['terminated']) {
            $api->change('DELETE', "/domain/$domain/delete");
        }
    });
}

function reseller_GetNameservers(array $params): array
{
    return reseller_managed($params, fn (Api $api, string $domain, array $info) => array_filter($info['nameserver']));
}

function reseller_SaveNameservers(array $params): array
{
    return reseller_managed($params, function (Api $api, string $domain) use ($params) {
        $api->change('POST', "/domain/$domain/nameserver", reseller_nameservers($params, 5));
    });
}

/** The service has one contact in all roles. */
function reseller_GetContactDetails(array $params): array
{
    return reseller_managed($params, function (Api $api, string $domain, array $info) {
        $handle = reseller_ownerOf($api, $info);
        return ['Registrant' => [
            'First Name' => $handle['firstname'],
            'Last Name' => $handle['lastname'],
            'Email Address' => $handle['email'],
            'Address 1' => "{$handle['street']} {$handle['number']}",
            'Address 2' => '',
            'City' => $handle['city'],
            'State' => $handle['region'],
            'Postcode' => $handle['zipcode'],
            'Country' => $handle['countrycode'],
            'Phone Number' => $handle['phone'] ?? '',
        ]];
    });
}

/** Makes a handle of the form's data, and gives it to the domain. */
function reseller_SaveContactDetails(array $params): array
{
    return reseller_managed($params, function (Api $api, string $domain, array $info) use ($params) {
        $details = $params['contactdetails']['Registrant'];
        $contact = reseller_contact([
            'Gender' => reseller_ownerOf($api, $info)['gender'],
            'firstname' => $details['First Name'],
            'lastname' => $details['Last Name'],
            'address1' => $details['Address 1'],
            'address2' => $details['Address 2'] ?? '',
            'postcode' => $details['Postcode'],
            'city' => $details['City'],
            'fullstate' => $details['State'],
            'countrycode' => $details['Country'],
            'email' => $details['Email Address'],
            'fullphonenumber' => $details['Phone Number'],
            'companyname' => $details['Company Name'] ?? '',
            'PersonOfCompany' => $params['PersonOfCompany'] ?? '',
        ]);
        $api->change('POST', "/domain/$domain/handle", ['handle' => reseller_handle($api, $params, $contact)]);
    });
}

/** @return array<string, string|null> The data of the domain's contact. */
function reseller_ownerOf(Api $api, array $info): array
{
    return $api->get('/domain/handle/' . rawurlencode($info['handle']['ownerC']) . '/info');
}

function reseller_GetEPPCode(array $params): array
{
    return reseller_managed(
        $params,
        fn (Api $api, string $domain) => ['eppcode' => $api->change('POST', "/domain/$domain/authcode")['authcode']],
    );
}

/** @return string|array<string, string> `locked` or `unlocked`, or the message that WHMCS shows. */
function reseller_GetRegistrarLock(array $params): string|array
{
    $domain = reseller_managed($params, fn (Api $api, string $domain, array $info) => $info['domain']);
    return isset($domain['error']) ? $domain : ($domain['transfer_lock'] ? 'locked' : 'unlocked');
}

function reseller_SaveRegistrarLock(array $params): array
{
    return reseller_managed($params, function (Api $api, string $domain) use ($params) {
        $api->change('POST', "/domain/$domain/transfer-lock", ['transfer_lock' => $params['lockenabled'] === 'locked' ? 'true' : 'false']);
    });
}

function reseller_GetDNS(array $params): array
{
    return reseller_managed($params, function (Api $api, string $domain) {
        return array_map(function (array $record) use ($domain) {
            [$priority, $address] = $record['type'] === 'MX' ? explode(' ', $record['data'], 2) : ['', $record['data']];
            return [
                'hostname' => $record['name'] === $domain ? '@' : substr($record['name'], 0, -strlen($domain) - 1),
                'type' => $record['type'],
                'address' => $address,
                'priority' => $priority,
                'recid' => $record['record_id'],
            ];
        }, $api->get("/domain/$domain/dns/list"));
    });
}

/** WHMCS sends all records of its form: those with a `recid` exist, and those without an address are to be removed. */
function reseller_SaveDNS(array $params): array
{
    return reseller_managed($params, function (Api $api, string $domain) use ($params) {
        $stored = array_column($api->get("/domain/$domain/dns/list"), null, 'record_id');
        foreach ($params['dnsrecords'] as $record) {
            $id = $record['recid'] ?? '';
            $address = trim((string) $record['address']);
            if ($address === '') {
                if (isset($stored[$id])) {
                    $api->change('DELETE', "/domain/$domain/dns/$id/remove");
                }
                continue;
            }
            $data = $record['type'] === 'MX' ? (int) $record['priority'] . " $address" : $address;
            $form = ['type' => $record['type'], 'sub' => $record['hostname'], 'data' => $data];
            $name = in_array($record['hostname'], ['', '@'], true) ? $domain : "{$record['hostname']}.$domain";
            if (!isset($stored[$id])) {
                $api->change('PUT', "/domain/$domain/dns/add", $form);
            } elseif ([$stored[$id]['type'], $stored[$id]['name'], $stored[$id]['data']] !== [$record['type'], $name, $data]) {
                $api->change('POST', "/domain/$domain/dns/$id/edit", $form);
            }
        }
    });
}

function reseller_Sync(array $params): array
{
    return reseller_domain($params, function (Api $api, string $domain) use ($params) {
        $info = reseller_info($api, $domain);
        if ($info === null) {
            return reseller_gone($api, $domain, $params);
        }
        reseller_assertManaged($params, $info);
        $expiry = reseller_expiry($info);
        $isActive = !reseller_isPending($info) && $expiry >= gmdate('Y-m-d');
        return ['expirydate' => $expiry, 'active' => $isActive, 'transferredAway' => false];
    });
}

/** A transfer is complete when the domain of this order is in the account and no longer pending. */
function reseller_TransferSync(array $params): array
{
    return reseller_domain($params, function (Api $api, string $domain) use ($params) {
        $info = reseller_info($api, $domain);
        if ($info === null) {
            $end = reseller_hasOrdered($params) ? reseller_endOf($api, rawurldecode($domain), $params) : null;
            // A transfer that the service refused has not begun, and that of a click in progress has not ended.
            if ($end === null || $end['type'] !== 'domain.failed') {
                throw new RuntimeException('No transfer of this order is in progress. Order the transfer first.');
            }
            $reason = 'The registry did not carry out the transfer. Check the auth code and the transfer lock at the present provider, then order it again.';
            return ['completed' => false, 'failed' => true, 'reason' => $reason];
        }
        if (!reseller_isOwn($params, $info)) {
            throw new RuntimeException('The account has the domain, but this order did not buy it.');
        }
        return reseller_isPending($info) ? ['completed' => false] : ['completed' => true, 'expirydate' => reseller_expiry($info)];
    });
}

function reseller_CheckAvailability(array $params): ResultsList
{
    $api = reseller_api($params);
    $results = new ResultsList();
    foreach ($params['tldsToInclude'] as $tld) {
        $result = new SearchResult($params['searchTerm'], $tld);
        try {
            $isFree = $api->get('/domain/' . rawurlencode($params['searchTerm'] . '.' . ltrim($tld, '.')) . '/check')['available'];
            $result->setStatus($isFree ? SearchResult::STATUS_NOT_REGISTERED : SearchResult::STATUS_REGISTERED);
        } catch (ApiError $error) {
            $isUnsold = $error->status === 404;
            $result->setStatus($isUnsold ? SearchResult::STATUS_TLD_NOT_SUPPORTED : SearchResult::STATUS_UNKNOWN);
        }
        $results->append($result);
    }
    return $results;
}

/** The net prices that the service charges, from which WHMCS computes those of its clients. */
function reseller_GetTldPricing(array $params): TldList|array
{
    try {
        $tlds = new TldList();
        foreach (reseller_api($params)->get('/domain/pricings') as $tld => ['price_net' => $price]) {
            $tlds[] = (new ImportItem())
                ->setExtension(".$tld")
                // The service registers for one year, and renews each year.
                ->setMinYears(1)
                ->setMaxYears(1)
                ->setRegisterPrice($price['create'])
                ->setRenewPrice($price['renew'])
                ->setTransferPrice($price['transfer'])
                ->setCurrency('EUR')
                ->setEppRequired(true);
        }
        return $tlds;
    } catch (Throwable $error) {
        return ['error' => $error->getMessage()];
    }
}

/** Returns what the service knows about a domain, or null if the account does not have it. */
function reseller_info(Api $api, string $domain): ?array
{
    try {
        return $api->get("/domain/$domain/info");
    } catch (ApiError $error) {
        if ($error->status !== 404) {
            throw $error;
        }
        return null;
    }
}

/** Returns the date on which a domain expires. */
function reseller_expiry(array $info): string
{
    return substr($info['timings']['expire'], 0, 10);
}

/** Whether the registry has not yet registered or transferred a domain. */
function reseller_isPending(array $info): bool
{
    return $info['domain']['status'] === 'PENDING';
}

/** The expiry that WHMCS knows, or null. */
function reseller_knownExpiry(array $params): ?string
{
    $known = localAPI('GetClientsDomains', ['domainid' => $params['domainid']])['domains']['domain'][0]['expirydate'] ?? '';
    return preg_match('/^[1-9]\d{3}-\d\d-\d\d$/D', $known) === 1 ? $known : null;
}

/**
 * What WHMCS has to know about a domain that the account no longer has.
 *
 * @throws RuntimeException if its registration failed.
 */
function reseller_gone(Api $api, string $domain, array $params): array
{
    $expired = ['active' => false, 'expired' => true];
    $left = ['active' => false, 'transferredAway' => true];
    $end = reseller_endOf($api, rawurldecode($domain), $params);
    if ($end === null) {
        $known = reseller_knownExpiry($params);
        return $known !== null && $known < gmdate('Y-m-d') ? $expired : $left;
    }
    if ($end['type'] === 'domain.failed') {
        throw new RuntimeException('The registry did not register or transfer the domain, and the order was not charged. Order it again.');
    }
    // A domain that ends before its term has left.
    $isOver = $end['type'] === 'domain.deleted' && strtotime("{$end['data']['expire']} UTC") <= strtotime($end['timestamp']);
    return $isOver ? $expired : $left;
}

/** The last event with which the account lost a domain of this order, or null if the feed no longer has it. */
function reseller_endOf(Api $api, string $domain, array $params): ?array
{
    $last = null;
    foreach (['domain.failed', 'domain.deleted', 'domain.transferred'] as $type) {
        $cursor = [];
        do {
            $page = $api->search('/account/events', ['type' => $type, 'limit' => 100] + $cursor);
            foreach ($page['events'] as $event) {
                $isOwn = $event['data']['domain'] === $domain && reseller_hasMade($event['data']['handle'], $params);
                if ($isOwn && ($last === null || $event['timestamp'] >= $last['timestamp'])) {
                    $last = $event;
                }
            }
            $cursor = ['cursor' => $page['next_cursor']];
        } while ($page['has_more']);
    }
    return $last;
}

/** Addons that WHMCS sells with a domain, by the names of their parameters. Their client would pay for what the domain does not have. */
const RESELLER_MISSING_ADDONS = ['idprotection' => 'ID protection', 'emailforwarding' => 'email forwarding'];

/**
 * Buys a domain, unless this order has bought it. Only the order that made the handle of a domain has bought it: another client, or another WHMCS
 * with the same account, may have ordered the same domain.
 */
function reseller_buyDomain(Api $api, string $domain, array $params, array $transfer): void
{
    $years = (int) ($params['regperiod'] ?? 1);
    if ($years > 1) {
        throw new InvalidArgumentException("The service registers and transfers domains for one year, and this order is for $years. Nothing was bought. Set the period of the order to one year, and renew the domain later.");
    }
    foreach (RESELLER_MISSING_ADDONS as $addon => $name) {
        if (!empty($params[$addon])) {
            throw new InvalidArgumentException("The order has $name, which the API does not have. Nothing was bought. Take the addon out of the order, and out of the pricing of the TLD.");
        }
    }
    $info = reseller_info($api, $domain);
    if ($info !== null && reseller_isOwn($params, $info)) {
        return;
    }
    if ($info !== null) {
        throw new RuntimeException(rawurldecode($domain) . ' is in the account, but this order did not buy it. Nothing was bought. Find out which order it belongs to.');
    }
    // The response to the key of an order that has failed since would still be its success, so the next attempt has a key of its own.
    $end = reseller_hasOrdered($params) ? reseller_endOf($api, rawurldecode($domain), $params) : null;
    $key = 'whmcs-domain-' . reseller_order($params) . ($end === null ? '' : "-{$end['id']}");
    $form = ['domain' => rawurldecode($domain), 'handle' => reseller_handle($api, $params, reseller_contact($params))];
    $api->change('POST', '/domain/register', $form + $transfer + reseller_nameservers($params, 2), $key);
}

/** Rows of this table belong to one domain of WHMCS. */
const RESELLER_TABLE = 'tbldomainsadditionalfields';
const RESELLER_HANDLE = 'reseller handle';

/** Whether this order has made a handle, which it does just before it buys. */
function reseller_hasOrdered(array $params): bool
{
    return Capsule::table(RESELLER_TABLE)->where('domainid', (int) $params['domainid'])->where('value', RESELLER_HANDLE)->exists();
}

/** Whether this order bought a domain. */
function reseller_isOwn(array $params, array $info): bool
{
    return reseller_hasMade($info['handle']['ownerC'], $params);
}

/** Whether this order made a handle. */
function reseller_hasMade(string $handle, array $params): bool
{
    return Capsule::table(RESELLER_TABLE)
        ->where('domainid', (int) $params['domainid'])
        ->where('name', $handle)
        ->where('value', RESELLER_HANDLE)
        ->exists();
}

/** @throws RuntimeException if another order bought the domain, also one of another WHMCS with the same account. */
function reseller_assertManaged(array $params, array $info): void
{
    $maker = Capsule::table(RESELLER_TABLE)->where('name', $info['handle']['ownerC'])->where('value', RESELLER_HANDLE)->value('domainid');
    if ($maker !== null && (int) $maker !== (int) $params['domainid']) {
        throw new RuntimeException("The domain belongs to another order of this WHMCS, with the number $maker.");
    }
    if ($maker === null && ($params['ImportedDomains'] ?? '') !== 'on') {
        throw new RuntimeException('No order of this WHMCS bought the domain. If it was imported, or its contact was changed elsewhere, switch on Imported domains in the settings of the registrar.');
    }
}

/** Names the order of the domain in keys. */
function reseller_order(array $params): string
{
    return installationName($params['Installation']) . "-{$params['domainid']}";
}

/**
 * Makes a handle, and stores that this order made it. The same contact data gets the same one, however often the order is accepted. It is stored
 * before the domain is bought, so a click that is killed leaves no domain that its order does not know.
 */
function reseller_handle(Api $api, array $params, array $contact): string
{
    $key = 'whmcs-handle-' . reseller_order($params) . '-' . hash('sha256', serialize($contact));
    $handle = $api->change('PUT', '/domain/handle/create', $contact, $key)['handle'];
    $row = ['domainid' => (int) $params['domainid'], 'name' => $handle];
    Capsule::table(RESELLER_TABLE)->updateOrInsert($row, ['value' => RESELLER_HANDLE]);
    return $handle;
}

/** @return array<string, string> */
function reseller_nameservers(array $params, int $count): array
{
    $names = array_map(fn (int $number) => "ns$number", range(1, $count));
    return array_filter(array_intersect_key($params, array_flip($names)), fn (mixed $name) => trim((string) $name) !== '');
}

/** @return array<string, string> */
function reseller_contact(array $params): array
{
    $company = trim((string) ($params['companyname'] ?? ''));
    if ($company !== '' && ($params['PersonOfCompany'] ?? '') !== 'on') {
        throw new InvalidArgumentException("The API has no field for the company \"$company\", so a person would own the domain. Nothing was bought. Remove the company from the profile of the client, or switch on Companies in the settings of the registrar.");
    }
    $address = trim("{$params['address1']} {$params['address2']}");
    // The number is before or after the street, such as "12 Main Street" or "Hauptstraße 12a".
    if (preg_match('/^(?<number>\d\S*)\s+(?<street>\D.*)$/u', $address, $parts) !== 1 && preg_match('/^(?<street>.*\S)\s+(?<number>\d\S*)$/u', $address, $parts) !== 1) {
        throw new InvalidArgumentException("The address \"$address\" has no house number, which the API requires. Enter one in the profile of the client.");
    }
    return [
        'gender' => $params['Gender'],
        'firstname' => $params['firstname'],
        'lastname' => $params['lastname'],
        'street' => $parts['street'],
        'number' => $parts['number'],
        'zipcode' => $params['postcode'],
        'city' => $params['city'],
        'region' => $params['fullstate'] ?: $params['state'],
        'countrycode' => $params['countrycode'],
        'email' => $params['email'],
    ] + array_filter(['phone' => $params['fullphonenumber']]);
}

function reseller_api(array $params): Api
{
    return new Api($params['BaseUrl'], $params['ApiKey']);
}

/**
 * Does something with a domain of this order. The work gets what the service knows about the domain. Returns what the work returns, or the message
 * that WHMCS shows.
 */
function reseller_managed(array $params, callable $work): array
{
    return reseller_domain($params, function (Api $api, string $domain) use ($params, $work) {
        $info = $api->get("/domain/$domain/info");
        reseller_assertManaged($params, $info);
        return $work($api, $domain, $info);
    });
}

/** Returns what the work returns, or the message that WHMCS shows. */
function reseller_domain(array $params, callable $work): array
{
    try {
        return $work(reseller_api($params), rawurlencode("{$params['sld']}.{$params['tld']}")) ?? ['success' => true];
    } catch (Throwable $error) {
        return ['error' => $error->getMessage()];
    }
}
