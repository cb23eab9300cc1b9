/** `postern trust`: which certificates are trusted, and every change of them. */
import { Command } from 'commander'
import type { TrustRow, LogRow } from '../control/trust.ts'
import { takeSettings, parseId } from './flags.ts'
import { withSidecar } from './connect.ts'
import { printList, printTable } from './table.ts'
import { printJson, printNotice, printJsonLine } from './terminal.ts'
import { OperatorError } from '../errors.ts'

interface TrustListFlags {
  changed?: boolean
  json?: boolean
}

/** `postern trust list`: everybody whom we know, with fingerprint and standing. */
export function trustListCommand(): Command {
  const command = new Command('list')
    .description('list the people whom Postern knows, with name, fingerprint and standing')
    .option('--changed', 'only people for whom the service now lists another certificate')
    .option('--json', 'print them as JSON')
  return takeSettings(command, 'postern trust list --changed').action(list)
}

async function list({ changed, json }: TrustListFlags, command: Command): Promise<void> {
  const report = await withSidecar(command, (sidecar) => sidecar.trustList())
  const people = changed === true ? report.people.filter(isChanged) : report.people
  if (json === true) return printJson({ ...report, people })
  printNotice(`policy: ${report.policy}`)
  for (const { chatId, policy } of report.said) {
    if (chatId !== null) printNotice(`policy in chat ${chatId}: ${policy}`)
  }
  if (people.length === 0)
    return printNotice(changed === true ? 'nobody’s certificate changed' : 'nobody is known yet')
  printList(
    ['PERSON', 'NAME', 'FINGERPRINT', 'SINCE', 'STANDING', 'SIGNS', 'LISTED NOW'],
    people.map((person) => [
      String(person.userId),
      person.username === null ? '-' : `@${person.username}`,
      person.fingerprint ?? '-',
      person.since ?? '-',
      person.standing,
      signsOf(person),
      listedNow(person),
    ]),
  )
}

function signsOf({ signs, signsFiles }: TrustRow): string {
  const signed = [signs ? 'words' : '', signsFiles ? 'files' : ''].filter(Boolean)
  return signed.length === 0 ? 'no' : signed.join(', ')
}

function listedNow(person: TrustRow): string {
  const { listed, sharedWith } = person
  if (listed === null) return 'none'
  const text = isChanged(person) ? listed : 'the same'
  return sharedWith.length === 0 ? text : `${text}, shared with ${sharedWith.join(', ')}`
}

function isChanged({ fingerprint, listed }: TrustRow): boolean {
  return listed !== null && listed !== fingerprint
}

/** Entries per request. */
const PAGE = 1000

interface TrustLogFlags {
  since?: string
  json?: boolean
}

/** `postern trust log`: every change, in the order in which it was written down. */
export function trustLogCommand(): Command {
  const command = new Command('log')
    .description('print all changes of certificates, key lists and trust, oldest first')
    .option('--since <date>', 'from this day or time on, such as 2026-01-31')
    .option('--json', 'print one JSON object per line')
  return takeSettings(command, 'postern trust log --json > trust.ndjson').action(log)
}

async function log({ since, json }: TrustLogFlags, command: Command): Promise<void> {
  const sinceMs = readDate(since)
  await withSidecar(command, async (sidecar) => {
    let afterId = 0
    for (;;) {
      const rows = await sidecar.trustLog({ afterId, sinceMs, limit: PAGE })
      if (json === true) for (const row of rows) printJsonLine(row)
      else printTable(rows.map(cells))
      const last = rows.at(-1)
      if (last === undefined || rows.length < PAGE) return
      afterId = last.id
    }
  })
}

function cells({ at, kind, userId, chatId, detail }: LogRow): string[] {
  const who = [userId === null ? '' : `person ${userId}`, chatId === null ? '' : `chat ${chatId}`]
  const more = Object.entries(detail).map(([name, value]) => `${name} ${formatValue(value)}`)
  return [at, kind, who.filter(Boolean).join(', ') || 'the bot', more.join('; ')]
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ') || 'nobody'
  if (value === null) return 'as in the setting'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function readDate(text: string | undefined): number {
  if (text === undefined) return 0
  const ms = Date.parse(text)
  if (!Number.isNaN(ms)) return ms
  throw new OperatorError(
    'usage',
    'this is not a date',
    'write it like 2026-01-31 or 2026-01-31T12:00Z',
  )
}

const WHERE = '`postern trust list` shows the ids of the people whom we know'

/** `postern trust accept`: accepts the certificate that the service lists for a person now. */
export function trustAcceptCommand(): Command {
  const command = new Command('accept')
    .description('accept the certificate that is listed for a person now, and start over with them')
    .argument('<userId>', 'which person')
    .option('--fingerprint <hex>', 'only if this is the one that is listed')
  return takeSettings(command, 'postern trust accept 4711').action(accept)
}

async function accept(
  person: string,
  { fingerprint }: { fingerprint?: string },
  command: Command,
): Promise<void> {
  const userId = parseId(person, 'person', WHERE)
  const input = { userId, ...(fingerprint !== undefined && { fingerprint }) }
  printNotice((await withSidecar(command, (sidecar) => sidecar.trustAccept(input))).message)
}

/** `postern trust verify`: the operator compared a fingerprint with the person. */
export function trustVerifyCommand(): Command {
  const command = new Command('verify')
    .description('trust only this fingerprint for a person, after you compared it with them')
    .argument('<userId>', 'which person')
    .argument('<fingerprint...>', '40 hexadecimal characters; spaces are ignored')
  const line = 'postern trust verify 4711 D74D1C290E2CA5A56C7C8FF8B2B144D64D3C43B5'
  return takeSettings(command, line).action(verify)
}

async function verify(
  person: string,
  parts: string[],
  _options: unknown,
  command: Command,
): Promise<void> {
  const userId = parseId(person, 'person', WHERE)
  const input = { userId, fingerprint: parts.join('') }
  printNotice((await withSidecar(command, (sidecar) => sidecar.trustVerify(input))).message)
}

/** `postern trust block`: seals nothing to a person and trusts nothing from them. */
export function trustBlockCommand(): Command {
  const command = new Command('block')
    .description('seal nothing to a person and trust nothing from them, until they are accepted')
    .argument('<userId>', 'which person')
  return takeSettings(command, 'postern trust block 4711').action(block)
}

async function block(person: string, _options: unknown, command: Command): Promise<void> {
  const userId = parseId(person, 'person', WHERE)
  printNotice((await withSidecar(command, (sidecar) => sidecar.trustBlock({ userId }))).message)
}

const POLICIES = ['accept', 'first-use', 'pinned'] as const
type Policy = (typeof POLICIES)[number]

/** `postern trust policy`: what happens when a certificate changes, for the bot or in one chat. */
export function trustPolicyCommand(): Command {
  const command = new Command('policy')
    .description('set what happens when a certificate changes, over the setting trust.policy')
    .argument('<policy>', 'accept, first-use or pinned; setting goes back to trust.policy')
    .option('--chat <chatId>', 'in this chat only')
  return takeSettings(command, 'postern trust policy pinned --chat 4711').action(set)
}

async function set(policy: string, { chat }: { chat?: string }, command: Command): Promise<void> {
  const input = {
    chatId: chat === undefined ? null : parseId(chat, 'chat', '`postern chat list` shows them'),
    policy: readPolicy(policy),
  }
  printNotice((await withSidecar(command, (sidecar) => sidecar.trustPolicy(input))).message)
}

function readPolicy(text: string): Policy | null {
  if (text === 'setting') return null
  const policy = POLICIES.find((known) => known === text)
  if (policy !== undefined) return policy
  throw new OperatorError(
    'usage',
    'there is no such policy',
    `one of ${POLICIES.join(', ')}, or setting`,
  )
}
