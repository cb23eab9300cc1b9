import { isIP } from 'node:net'
import { FIXED_LIMITS } from '../../api/limits.ts'
import { isWebUrl } from '../../api/common.ts'
import { webhookUrlProblem } from '../../api/updates.ts'
import { apiError } from '../api-error.ts'
import type { World } from '../world.ts'
import { isPublicAddress } from './public-address.ts'

/**
 * Checks a webhook URL: https, no credentials, no fragment, and every address of its host public.
 * Under the rule `local`, http and any address are accepted too.
 * @throws SandboxApiError `bad_webhook`
 */
export async function requireWebhookUrl(world: World, url: string): Promise<void> {
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
  if (url.length > FIXED_LIMITS.webhookUrlMax) return 'url: must be at most 1024 characters'
  if (!isWebUrl(url)) return 'url: must be http or https, absolute and without credentials'
  return url.includes('#') ? 'url: must have no fragment' : null
}
