<?php

/** The server module: WHMCS calls these functions by their names. */

declare(strict_types=1);

use Reseller\Whmcs\VmService;
use WHMCS\Database\Capsule;

if (!defined('WHMCS')) {
    exit('WHMCS calls this file.');
}

require_once __DIR__ . '/lib/Api.php';
require_once __DIR__ . '/lib/VmService.php';

function reseller_MetaData(): array
{
    return ['DisplayName' => 'Reseller Infrastructure Service', 'APIVersion' => '1.1', 'RequiresServer' => true, 'DefaultSSLPort' => '443'];
}

function reseller_ConfigOptions(): array
{
    return VmService::OPTIONS;
}

function reseller_TestConnection(array $params): array
{
    $error = reseller_run($params, fn (VmService $service) => $service->test());
    return ['success' => $error === 'success', 'error' => $error === 'success' ? '' : $error];
}

function reseller_CreateAccount(array $params): string
{
    return reseller_run($params, fn (VmService $service) => $service->create());
}

/** A VM that is stopped is not billed. It keeps its disk and its addresses. */
function reseller_SuspendAccount(array $params): string
{
    return reseller_run($params, fn (VmService $service) => $service->power('stop'));
}

function reseller_UnsuspendAccount(array $params): string
{
    return reseller_run($params, fn (VmService $service) => $service->power('start'));
}

function reseller_TerminateAccount(array $params): string
{
    return reseller_run($params, fn (VmService $service) => $service->terminate());
}

function reseller_ChangePackage(array $params): string
{
    return reseller_run($params, fn (VmService $service) => $service->changePackage());
}

function reseller_AdminCustomButtonArray(): array
{
    return ['Restart' => 'restart', 'Reset the password' => 'resetPassword'];
}

function reseller_ClientAreaCustomButtonArray(): array
{
    return reseller_AdminCustomButtonArray();
}

function reseller_restart(array $params): string
{
    return reseller_run($params, fn (VmService $service) => $service->power('restart'));
}

function reseller_resetPassword(array $params): string
{
    return reseller_run($params, fn (VmService $service) => $service->resetPassword());
}

function reseller_ClientArea(array $params): array
{
    $vars = [];
    $error = reseller_run($params, function (VmService $service) use (&$vars) {
        $vars = $service->overview();
    });
    return ['templatefile' => 'templates/clientarea', 'vars' => $vars + ['error' => $error === 'success' ? '' : $error]];
}

/** WHMCS calls it once a day for each server, without a service. */
function reseller_UsageUpdate(array $params): void
{
    foreach ((new VmService($params))->usage() as $serviceId => $usage) {
        Capsule::table('tblhosting')
            ->where('server', $params['serverid'])
            ->where('id', $serviceId)
            ->update($usage + ['lastupdate' => Capsule::raw('now()')]);
    }
}

/** Returns the word `success`, or the message that WHMCS shows to the administrator. */
function reseller_run(array $params, callable $work): string
{
    try {
        $work(new VmService($params));
        return 'success';
    } catch (Throwable $error) {
        return $error->getMessage();
    }
}
