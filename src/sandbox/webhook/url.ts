import { isIP } from 'node:net'
import { isWebUrl } from '../../api/common.ts'
import { webhookUrlProblem } from '../../api/updates.ts'
import { subnetList } from '../../util/local-door.ts'
import { apiError } from '../api-error.ts'
import type { World } from '../world.ts'

/** Ranges that are not public, or carry IPv4 (IANA special-purpose registries). */
const special = subnetList(`
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
  192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
  224.0.0.0/4 240.0.0.0/4 2001::/23 2001:db8::/32 2002::/16 3fff::/20`)
/** The only public space of IPv6. */
const globalV6 = subnetList('2000::/3')

/**
 * Checks a webhook URL: its length, https, no credentials, no fragment, and every address of its host public.
 * Under the rule `local`, http and any address are accepted too.
 * @throws SandboxApiError `bad_webhook`
 */
export async function requireWebhookUrl(world: World, url: string): Promise<void> {
  const { webhookUrlMax } = world.limits.values
  if (url.length > webhookUrlMax) {
    throw apiError('bad_webhook', `url: must be at most ${webhookUrlMax} characters`)
  }
  const local = world.rules.webhooks === 'local'
  const problem = local ? localProblem(url) : webhookUrlProblem(url)
  if (problem !== null) throw apiError('bad_webhook', problem)
  if ((await addressesOf(world, url)) === null) {
    throw apiError('bad_webhook', 'url: must resolve to a public address')
  }
}

/** The addresses of a URL's host, or null when there are none or one of them is not allowed. */
export async function addressesOf(world: World, url: string): Promise<string[] | null> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(host) === 0 ? await world.rules.resolveHost(host).catch(() => []) : [host]
  if (addresses.length === 0) return null
  if (world.rules.webhooks === 'local') return addresses
  return addresses.every(isPublicAddress) ? addresses : null
}

function localProblem(url: string): string | null {
  if (!isWebUrl(url)) return 'url: must be http or https, absolute and without credentials'
  return url.includes('#') ? 'url: must have no fragment' : null
}

/** Whether a text is an IP address of the public internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !special.check(address, 'ipv4')
  return family === 6 && globalV6.check(address, 'ipv6') && !special.check(address, 'ipv6')
}
