/** Rules for a webhook's target: those of the spec, and those for private networks. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { FIXED_LIMITS } from '../api/limits.ts'
import { hostNames, subnetList } from '../util/local-door.ts'
import { Refusal } from '../errors.ts'

export interface TargetRules {
  /** Setting `webhook.allowHosts`; null when it is not set. */
  allowHosts: readonly string[] | null
  /** Resolves a host name; an empty list when it has no address; rejects when DNS fails. */
  resolve: (host: string) => Promise<string[]>
}

/** A url whose host has been resolved: deliveries go to these addresses and nowhere else. */
export type WebhookTarget = Awaited<ReturnType<typeof findTarget>>

/** Blanks and control characters, which a URL parser drops, and backslashes, which it turns. */
const MISLEADING = /[\s\\\p{Cc}]/u
const ABSOLUTE = /^https?:\/\/([^/?]*)/i

/**
 * Reads a webhook's url and finds out where it leads.
 * @param text as the bot gave it
 * @returns also its host without brackets and closing dot, and at least one address, in the order in
 *   which they are to be tried
 * @throws Refusal `bad_webhook` (spec, POST /webhook), which names the cause and never the url
 */
export async function findTarget(text: string, rules: TargetRules) {
  const url = readUrl(text)
  // A URL parser has already made one spelling of numbers, brackets, case and punycode.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  const { allowHosts } = rules
  if (allowHosts !== null && !hostNames(allowHosts).has(host)) {
    throw bad('its host is not one of webhook.allowHosts')
  }
  const addresses = isIP(host) === 0 ? await rules.resolve(url.hostname).catch(() => []) : [host]
  if (addresses.length === 0) throw bad('its host has no address')
  const kinds = new Set(addresses.map(addressKind))
  if (kinds.has('never')) throw bad('its host is at an address where no webhook may be')
  if (url.protocol === 'http:' && kinds.has('public')) {
    throw bad('must be https, unless its host is on this machine or in a private network')
  }
  return { url, host, addresses }
}

/** The system's resolver. */
export const resolveHost = async (host: string): Promise<string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address)

function readUrl(text: string): URL {
  if (text.length > FIXED_LIMITS.webhookUrlMax) throw bad('must be at most 1024 characters')
  if (MISLEADING.test(text)) throw bad('must hold no blanks, control characters or backslashes')
  const authority = ABSOLUTE.exec(text)?.[1] ?? ''
  if (authority === '' || !URL.canParse(text)) throw bad('must be absolute, https or http')
  if (authority.includes('@')) throw bad('must have no credentials')
  if (text.includes('#')) throw bad('must have no fragment')
  const url = new URL(text)
  if (url.port === '0') throw bad('must have a port that can be called')
  return url
}

const bad = (what: string): Refusal => new Refusal('bad_webhook', `url: ${what}`)

/** The kind of network of an address, for the rules of webhooks. */
type AddressKind =
  /** This machine or a network of the operator's: plain http is allowed. */
  | 'local'
  /** The internet: https alone. */
  | 'public'
  /** Neither, or the door to a cloud's secrets: nothing is ever sent there. */
  | 'never'

/** RFC 1122, 1918, 6598, 4193, 4291. */
const local = subnetList(
  '127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 ::1/128 fc00::/7',
)
/**
 * IANA's special-purpose registries. The metadata addresses of clouds, which serve secrets: of Alibaba
 * and Azure, then of AWS and of Google, within local ranges; the others' are link-local. Teredo,
 * documentation, 6to4: they carry IPv4 or lead nowhere.
 */
const never = subnetList(`
  0.0.0.0/8 169.254.0.0/16 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24
  203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
  100.100.100.200/32 168.63.129.16/32 fd00:ec2::/32 fd20:ce::/32
  2001::/23 2001:db8::/32 2002::/16 3fff::/20`)
/** All that is public in IPv6 is in the first; the second is IPv4, written as IPv6. */
const global = subnetList('2000::/3 ::ffff:0:0/96')

/**
 * The kind of an address. An IPv4-mapped IPv6 address counts as its IPv4 address; every other
 * way to carry IPv4 in IPv6 is `never`, and so is text that is no address or names a zone.
 */
export function addressKind(address: string): AddressKind {
  const family = isIP(address)
  if (family === 0 || address.includes('%')) return 'never'
  // A list compares `::ffff:10.0.0.1` in any spelling with its IPv4 subnets as 10.0.0.1.
  const kind = family === 4 ? 'ipv4' : 'ipv6'
  if (never.check(address, kind)) return 'never'
  if (local.check(address, kind)) return 'local'
  return family === 4 || global.check(address, kind) ? 'public' : 'never'
}
