<?php

/** The registrar module: WHMCS calls these functions by their names. It shares `lib/Api.php` with the server module. */

declare(strict_types=1);

use Reseller\Whmcs\Api;
use Reseller\Whmcs\ApiError;
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
    return reseller_domain($params, function (Api $api, string $domain) use ($params) {
        $known = localAPI('GetClientsDomains', ['domainid' => $params['domainid']])['domains']['domain'][0]['expirydate'] ?? '';
        if (preg_match('/^[1-9]\d{3}-\d\d-\d\d$/D', $known) !== 1) {
            throw new RuntimeException('WHMCS does not know when the domain expires. Synchronise it with the registrar, then renew it.');
        }
        if ($api->get("/domain/$domain/info")['domain']['terminated']) {
            $api->change('POST', "/domain/$domain/undelete");
        }
        $years = (int) $params['regperiod'];
        // A month less, because the date of WHMCS can be some days away from that of the registry.
        $paid = gmdate('Y-m-d', strtotime("$known UTC +$years years -1 month"));
        for ($renewed = 0; $renewed < $years && ($expiry = reseller_expiry($api, $domain)) < $paid; $renewed++) {
            $api->change('POST', "/domain/$domain/renew", [], 'whmcs-renew-' . reseller_order($params) . "-$expiry");
        }
    });
}

/** Cancels the domain at the end of its term. */
function reseller_RequestDelete(array $params): array
{
    return reseller_domain($params, function (Api $api, string $domain) {
        if (!$api->get("/domain/$domain/info")['domain']['terminated']) {
            $api->change('DELETE', "/domain/$domain/delete");
        }
    });
}

function reseller_GetNameservers(array $params): array
{
    return reseller_domain($params, fn (Api $api, string $domain) => array_filter($api->get("/domain/$domain/info")['nameserver']));
}

function reseller_SaveNameservers(array $params): array
{
    return reseller_domain($params, function (Api $api, string $domain) use ($params) {
        $api->change('POST', "/domain/$domain/nameserver", reseller_nameservers($params, 5));
    });
}

/** The service has one contact in all roles. */
function reseller_GetContactDetails(array $params): array
{
    return reseller_domain($params, function (Api $api, string $domain) {
        $handle = reseller_ownerOf($api, $domain);
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
    return reseller_domain($params, function (Api $api, string $domain) use ($params) {
        $details = $params['contactdetails']['Registrant'];
        $contact = reseller_contact([
            'Gender' => reseller_ownerOf($api, $domain)['gender'],
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
        ]);
        $api->change('POST', "/domain/$domain/handle", ['handle' => reseller_handle($api, $params, $contact)]);
    });
}

/** @return array<string, string|null> The data of the domain's contact. */
function reseller_ownerOf(Api $api, string $domain): array
{
    $handle = $api->get("/domain/$domain/info")['handle']['ownerC'];
    return $api->get('/domain/handle/' . rawurlencode($handle) . '/info');
}

function reseller_GetEPPCode(array $params): array
{
    return reseller_domain(
        $params,
        fn (Api $api, string $domain) => ['eppcode' => $api->change('POST', "/domain/$domain/authcode")['authcode']],
    );
}

/** @return string|array<string, string> `locked` or `unlocked`, or the message that WHMCS shows. */
function reseller_GetRegistrarLock(array $params): string|array
{
    $domain = reseller_domain($params, fn (Api $api, string $domain) => $api->get("/domain/$domain/info")['domain']);
    return isset($domain['error']) ? $domain : ($domain['transfer_lock'] ? 'locked' : 'unlocked');
}

function reseller_SaveRegistrarLock(array $params): array
{
    return reseller_domain($params, function (Api $api, string $domain) use ($params) {
        $api->change('POST', "/domain/$domain/transfer-lock", ['transfer_lock' => $params['lockenabled'] === 'locked' ? 'true' : 'false']);
    });
}

function reseller_GetDNS(array $params): array
{
    return reseller_domain($params, function (Api $api, string $domain) {
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
    return reseller_domain($params, function (Api $api, string $domain) use ($params) {
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
    return reseller_domain($params, function (Api $api, string $domain) {
        $expiry = reseller_expiry($api, $domain);
        return $expiry === null
            ? ['active' => false, 'expired' => true]
            : ['expirydate' => $expiry, 'active' => $expiry >= gmdate('Y-m-d'), 'transferredAway' => false];
    });
}

/** A transfer is complete when the domain is in the account. */
function reseller_TransferSync(array $params): array
{
    return reseller_domain($params, function (Api $api, string $domain) {
        $expiry = reseller_expiry($api, $domain);
        return $expiry === null ? ['completed' => false] : ['completed' => true, 'expirydate' => $expiry];
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

/** Returns the date on which a domain expires, or null if the account does not have it. */
function reseller_expiry(Api $api, string $domain): ?string
{
    try {
        return substr($api->get("/domain/$domain/info")['timings']['expire'], 0, 10);
    } catch (ApiError $error) {
        if ($error->status !== 404) {
            throw $error;
        }
        return null;
    }
}

/** Buys a domain, unless it is in the account. */
function reseller_buyDomain(Api $api, string $domain, array $params, array $transfer): void
{
    if (reseller_expiry($api, $domain) !== null) {
        return;
    }
    $form = ['domain' => rawurldecode($domain), 'handle' => reseller_handle($api, $params, reseller_contact($params))];
    $api->change('POST', '/domain/register', $form + $transfer + reseller_nameservers($params, 2), 'whmcs-domain-' . reseller_order($params));
}

/** Names the order of the domain in keys. */
function reseller_order(array $params): string
{
    return installationName($params['Installation']) . "-{$params['domainid']}";
}

/** Makes a handle. The same contact data gets the same one, however often the order is accepted. */
function reseller_handle(Api $api, array $params, array $contact): string
{
    $key = 'whmcs-handle-' . reseller_order($params) . '-' . hash('sha256', serialize($contact));
    return $api->change('PUT', '/domain/handle/create', $contact, $key)['handle'];
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
        'phone' => $params['fullphonenumber'],
    ];
}

function reseller_api(array $params): Api
{
    return new Api(rtrim($params['BaseUrl'], '/'), $params['ApiKey']);
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
