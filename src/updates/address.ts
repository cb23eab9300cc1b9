import { isIP } from 'node:net'
import { subnetList } from '../util/local-door.ts'

/** The kind of network of an address, for the rules of webhooks. */
export type AddressKind =
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
