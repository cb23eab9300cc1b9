import type { Phone, InboxEntry } from '../sandbox/phone/phone.ts'
import { isAddressed } from '../sandbox/rules/addressing.ts'
import { sideBySide } from './columns.ts'
import type { Stage } from './demo-stage.ts'
import { paint, put } from './terminal.ts'

const WIDTHS = [32, 28, 34] as const
const WITHIN_MS = 20_000

/** Who writes what, where. */
export interface Line {
  chat: 'private' | 'group'
  text: string
}

/** What came of it. */
export interface Played {
  /** The bot read the very words. */
  heard: boolean
  /** The phone opened the answer and the bot's signature is good. */
  verified: boolean
  /** The words or the answer stood somewhere in what the service received or answered. */
  leaked: boolean
}

/** Prints the heads of the three columns. */
export function putHeads(): void {
  const heads = ['WHAT ALICE SEES', 'WHAT THE BOT SEES', 'WHAT THE SERVICE SEES']
  putRow(heads)
  putRule()
}

/** Lets alice write, and waits for the bot's answer on her phone; prints what each saw. */
export async function play(stage: Stage, { chat, text }: Line): Promise<Played> {
  const { sandbox, alice, heard } = stage
  const chatId = chat === 'private' ? sandbox.home.privateChat : sandbox.home.encryptedGroup
  const before = { heard: heard.length, inbox: alice.inbox.length }
  const messageId = await alice.write(chatId, text)
  const forBot = chat === 'private' || isAddressed(text, sandbox.home.bot)
  const answer = forBot ? await answerOn(alice, chatId, before.inbox) : null
  const read = heard.slice(before.heard).find((one) => one.chatId === chatId)
  const unread = forBot ? '(nothing)' : '(nothing: it is not addressed)'
  putRow([
    `alice ${chat === 'private' ? 'to the bot' : 'in the group'}:\n${text}`,
    read === undefined ? unread : `alice:\n${read.text}`,
    await stored(stage, chatId, messageId),
  ])
  if (answer !== null) {
    putRow([
      `echo_bot:\n${answer.text}\n${mark(answer)}`,
      `answers:\n${read?.answer ?? ''}`,
      await stored(stage, chatId, answer.messageId),
    ])
  } else if (forBot) {
    putRow(['(no answer)', '', ''])
  }
  putRule()
  return {
    heard: read?.text === text,
    verified: answer?.verdict === 'verified' && answer.text === read?.answer,
    leaked: sandbox.transcript.search(text).length > 0,
  }
}

/** What went wrong, in words for people; empty when all of it worked. */
export function shortcomings({ heard, verified, leaked }: Played): string[] {
  return [
    heard ? [] : ['the bot did not read the words'],
    verified ? [] : ['no verified answer reached the phone'],
    leaked ? ['readable words reached the service'] : [],
  ].flat()
}

/** What the phone shows next in that chat, or null when nothing comes. */
async function answerOn(phone: Phone, chatId: number, from: number): Promise<InboxEntry | null> {
  const isNew = (seen: InboxEntry): boolean => phone.inbox.indexOf(seen) >= from
  return await phone
    .seen((seen) => seen.chatId === chatId && isNew(seen), WITHIN_MS)
    .catch(() => null)
}

function putRule(): void {
  put(WIDTHS.map((width) => '─'.repeat(width)).join('─┼─'))
}

function putRow(cells: string[]): void {
  for (const line of sideBySide(cells, WIDTHS)) put(coloured(line))
}

function mark({ verdict }: InboxEntry): string {
  return verdict === 'verified' ? '✓ signature verified' : `✗ ${verdict}`
}

function coloured(line: string): string {
  return line
    .replace('✓ signature verified', (text) => paint('green', text))
    .replace(/✗ \S+/, (text) => paint('red', text))
}

/** A message as the service holds it: its first and last armored lines, or readable words. */
async function stored(stage: Stage, chatId: number, messageId: number): Promise<string> {
  const kept = await stage.sandbox.control.messages({ chatId })
  const message = kept.find(({ id }) => id === messageId)
  if (message === undefined) return '(nothing)'
  if (message.armored === null) return `readable: ${message.text ?? ''}`
  const lines = message.armored.trim().split('\n')
  const body = lines.filter((line) => line !== '' && !line.startsWith('-----'))
  const width = WIDTHS[2]
  return [
    lines[0],
    `${body[0]?.slice(0, width - 1)}…`,
    `… ${message.armored.length} characters, sealed`,
  ].join('\n')
}
