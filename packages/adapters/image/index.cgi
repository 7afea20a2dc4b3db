#!/bin/sh
user=$(cat /var/user)
home=$(sed -n "s/^$user:.*:\(.*\):.*\$/\1/p" /etc/passwd)
key=$(sed 's/&/\&amp;/g; s/</\&lt;/g' "$home/.ssh/authorized_keys" 2> /dev/null)
row() { printf '<tr><th>%s</th><td>%s</td></tr>\n' "$1" "$2"; }
printf 'Content-Type: text/html; charset=utf-8\r\n\r\n'
cat << EOF
<!doctype html>
<html lang="en">
<meta name="viewport" content="width=device-width">
<title>$(hostname)</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; color: #1c2530 }
  th { text-align: left; padding: 0.3rem 2rem 0.3rem 0; font-weight: 600; vertical-align: top }
  td { overflow-wrap: anywhere; font-family: ui-monospace, monospace }
</style>
<h1>$(hostname)</h1>
<p>This page comes from inside the VM.</p>
<table>
EOF
row Kernel "Linux $(uname -r)"
row Cores "$(nproc)"
row Memory "$(($(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo) / 1024)) MiB usable"
row Disk "$(($(cat /sys/block/vda/size) / 2097152)) GiB"
row User "$user"
row 'Authorised key' "${key:-none}"
row 'Running for' "$(cut -d. -f1 /proc/uptime) s"
echo '</table></html>'
