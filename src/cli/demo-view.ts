import type { InboxEntry } from '../sandbox/phone/seen.ts'
import type { Phone } from '../sandbox/phone/phone.ts'
import { isAddressed } from '../sandbox/rules/content.ts'
import type { Demo } from './demo-setup.ts'
import { sideBySide } from './table.ts'
import { colourText, isStdoutTerminal, print, terminalWidth } from './terminal.ts'

const HEADS = ['WHAT ALICE SEES', 'WHAT THE BOT SEES', 'WHAT THE SERVICE SEES'] as const
/** Columns of a line of 100. */
const WIDTHS = [32, 28, 34] as const
const WIDE = 100
const GAPS = 6
const WITHIN_MS = 20_000

/** A line that alice writes, and the chat that it goes to. */
export interface ScriptLine {
  chat: 'private' | 'group'
  text: string
}

/** What happened to a line of the script. */
export type SceneResult = Awaited<ReturnType<typeof playLine>>

/** Prints the heads of the three columns. */
export function printHeadings(): void {
  printRow([...HEADS])
  printRule()
}

/** Has alice write, and waits for the bot's answer on her phone; prints the three views. */
export async function playLine(demo: Demo, { chat, text }: ScriptLine) {
  const { sandbox, alice, echoed } = demo
  const chatId = chat === 'private' ? sandbox.home.privateChat : sandbox.home.encryptedGroup
  const before = { echoed: echoed.length, inbox: alice.inbox.length }
  const messageId = await alice.write(chatId, text)
  const forBot = chat === 'private' || isAddressed(text, sandbox.home.bot)
  const answer = forBot ? await answerOn(alice, chatId, before.inbox) : null
  const read = echoed.slice(before.echoed).find((one) => one.chatId === chatId)
  const unread = forBot ? '(nothing)' : '(nothing: it is not addressed)'
  printRow([
    `alice ${chat === 'private' ? 'to the bot' : 'in the group'}:\n${text}`,
    read === undefined ? unread : `alice:\n${read.text}`,
    await stored(demo, chatId, messageId),
  ])
  if (answer !== null) {
    printRow([
      `echo_bot:\n${answer.text}\n${mark(answer)}`,
      `answers:\n${read?.answer ?? ''}`,
      await stored(demo, chatId, answer.messageId),
    ])
  } else if (forBot) printRow(['(no answer)', '', ''])
  printRule()
  return {
    /** The bot read exactly this text. */
    wasRead: read?.text === text,
    /** The phone opened the answer and the bot's signature is good. */
    isVerified: answer?.verdict === 'verified' && answer.text === read?.answer,
    /** The text is in something that the service received or answered. */
    hasLeaked: sandbox.transcript.search(text).length > 0,
  }
}

/** What went wrong, for people; empty when all of it worked. */
export const problemsOf = ({ wasRead, isVerified, hasLeaked }: SceneResult): string[] =>
  [
    wasRead ? [] : ['the bot did not read the text'],
    isVerified ? [] : ['no verified answer reached the phone'],
    hasLeaked ? ['readable text reached the service'] : [],
  ].flat()

/** The phone's next message in that chat, or null without one in time. */
async function answerOn(phone: Phone, chatId: number, from: number): Promise<InboxEntry | null> {
  const isNew = (seen: InboxEntry): boolean => phone.inbox.indexOf(seen) >= from
  return await phone
    .seen((seen) => seen.chatId === chatId && isNew(seen), WITHIN_MS)
    .catch(() => null)
}

/** The columns in the terminal's width. */
function widths(): number[] {
  const room = (isStdoutTerminal() ? Math.min(WIDE, terminalWidth()) : WIDE) - GAPS
  return WIDTHS.map((width) => Math.floor((width * room) / (WIDE - GAPS)))
}

const printRule = (): void =>
  print(
    widths()
      .map((width) => '─'.repeat(width))
      .join('─┼─'),
  )

function printRow(cells: string[]): void {
  for (const line of sideBySide(cells, widths())) print(coloured(line))
}

const mark = ({ verdict }: InboxEntry): string =>
  verdict === 'verified' ? '✓ signature verified' : `✗ ${verdict}`

const coloured = (line: string): string =>
  line
    .replace('✓ signature verified', (text) => colourText('green', text))
    .replace(/✗ \S+/, (text) => colourText('red', text))

/** A message as the service holds it: its first and last armored lines, or its readable text. */
async function stored(demo: Demo, chatId: number, messageId: number): Promise<string> {
  const kept = await demo.sandbox.control.messages({ chatId })
  const message = kept.find(({ id }) => id === messageId)
  if (message === undefined) return '(nothing)'
  if (message.armored === null) return `readable: ${message.text ?? ''}`
  const lines = message.armored.trim().split('\n')
  const body = lines.filter((line) => line !== '' && !line.startsWith('-----'))
  const { length } = message.armored
  const first = body[0]?.slice(0, (widths()[2] ?? 0) - 1)
  return `${lines[0]}\n${first}…\n… ${length} characters, sealed`
}
