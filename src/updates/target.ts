/** Rules for a webhook's target: those of the spec, and those for private networks. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { FIXED_LIMITS } from '../api/limits.ts'
import { hostNames } from '../util/local-door.ts'
import { Refusal } from '../errors.ts'
import { addressKind } from './address.ts'

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
export async function resolveHost(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

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
