/** `postern sandbox say`, `press` and `attach`: what a person of a running sandbox does. */
import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { OperatorError } from '../errors.ts'
import { oneLine } from '../util/printable.ts'
import type { Control } from '../sandbox/control/table.ts'
import type { ScreenMessage } from '../sandbox/phone/screen.ts'
import { addExample } from './flags.ts'
import { addControlFlag, withSandbox, type ControlFlags } from './sandbox-client.ts'
import { SandboxNames } from './sandbox-names.ts'
import { formatAnswer, formatSeen, NEWEST } from './sandbox-seen.ts'
import { print, printJson, printNotice } from './terminal.ts'

interface ActionFlags extends ControlFlags {
  json?: boolean
  wait?: number | true
  reply?: number
  message?: number
}

/** A person, the chat that they speak in, and the sandbox of both. */
interface Speaker {
  control: Control
  names: SandboxNames
  userId: number
  username: string
  chatId: number
  chatName: string
  mode: string
}

/** As large as the sandbox stores files. */
const MAX_FILE_BYTES = 64 * 1024 * 1024
const WAIT_SECONDS = 10
const MAX_WAIT_SECONDS = 60

/** `postern sandbox say`: a person writes into a chat. */
export function sandboxSayCommand(): Command {
  const command = speaking(new Command('say'))
    .description('write into a chat as a person of a running sandbox, and print the message’s id')
    .argument('<words...>', 'what to write')
    .option('--reply <messageId>', 'quote this message', readMessageId)
    .action(async (person: string, chat: string, words: string[]) => {
      const flags = flagsOf(command)
      await speak({ person, chat, flags }, async ({ control, userId, chatId }) => {
        const text = words.join(' ')
        return await control.write({ userId, chatId, text, replyTo: flags.reply })
      })
    })
  return addExample(command, 'postern sandbox say alice dm "hi" --wait')
}

/** `postern sandbox attach`: a person sends a file. */
export function sandboxAttachCommand(): Command {
  const command = speaking(new Command('attach'))
    .description('send a file as a person of a running sandbox, and print the message’s id')
    .argument('<file>', 'which file, of at most 64 MiB')
    .argument('[words...]', 'what to write with it')
    .option('--reply <messageId>', 'quote this message', readMessageId)
    .action(async (person: string, chat: string, file: string, words: string[]) => {
      const flags = flagsOf(command)
      const base64 = readFile(file).toString('base64')
      await speak({ person, chat, flags }, async ({ control, userId, chatId }) => {
        const text = words.length === 0 ? undefined : words.join(' ')
        return await control.sendMedia({ userId, chatId, base64, text, replyTo: flags.reply })
      })
    })
  return addExample(command, 'postern sandbox attach alice dm picture.png "look at this"')
}

/** `postern sandbox press`: a person presses a button below a message. */
export function sandboxPressCommand(): Command {
  const command = speaking(new Command('press'))
    .description('press a button as a person of a running sandbox')
    .argument('[button]', 'its text or data; may be left out where there is one button alone')
    .option(
      '--message <messageId>',
      'below this message; else the newest with buttons',
      readMessageId,
    )
    .action(press)
  return addExample(command, 'postern sandbox press alice dm Yes --wait')
}

/** With `--json`, which the parser takes for that of `postern sandbox`. */
function flagsOf(command: Command): ActionFlags {
  return command.optsWithGlobals()
}

function speaking(command: Command): Command {
  return addControlFlag(command)
    .argument('<person>', 'who: a handle, or an id')
    .argument(
      '<chat>',
      'where: its name in the seed, a handle, a title, an id; `dm` is the private chat',
    )
    .option(
      '--wait [seconds]',
      `print what comes next there, and fail when nothing does within so many seconds (${WAIT_SECONDS})`,
      readSeconds,
    )
    .option('--json', 'print it as JSON')
}

/** Lets a person send something, prints its id, and the next message that their phone shows there. */
async function speak(
  { person, chat, flags }: { person: string; chat: string; flags: ActionFlags },
  send: (speaker: Speaker) => Promise<{ messageId: number; mediaId?: string }>,
): Promise<void> {
  await withSandbox(flags, async (control) => {
    const speaker = await findSpeaker(control, { person, chat })
    const { userId, chatId } = speaker
    const { last } = await control.inbox({ userId, after: NEWEST })
    const sent = await send(speaker)
    const answer =
      flags.wait === undefined
        ? null
        : await nextMessage(control, { speaker, after: last, wait: flags.wait })
    if (flags.json === true) {
      return printJson({ ...sent, userId, chatId, ...(answer === null ? {} : { answer }) })
    }
    const how = speaker.mode === 'protected' ? 'sealed' : 'readable'
    printNotice(`${speaker.username} wrote into ${speaker.chatName} (${how})`)
    print(answer === null ? String(sent.messageId) : formatSeen(answer, speaker.names))
  })
}

async function press(
  person: string,
  chat: string,
  button: string | undefined,
  _flags: ActionFlags,
  command: Command,
): Promise<void> {
  const flags = flagsOf(command)
  await withSandbox(flags, async (control) => {
    const speaker = await findSpeaker(control, { person, chat })
    const { userId, chatId } = speaker
    const { messages } = await control.screen({ userId, chatId })
    const message = messageWithButtons(messages, { speaker, messageId: flags.message })
    const data = dataOf(message, button)
    const { last } = await control.inbox({ userId, after: NEWEST })
    const { messageId } = message
    const { callbackId } = await control.press({ userId, chatId, messageId, data })
    const answer =
      flags.wait === undefined
        ? null
        : await answerTo(control, { callbackId, speaker, after: last, wait: flags.wait })
    if (flags.json === true) {
      const pressed = { callbackId, userId, chatId, messageId, data }
      return printJson({ ...pressed, ...(answer === null ? {} : { answer }) })
    }
    printNotice(`${speaker.username} pressed ${oneLine(data)} below message ${messageId}`)
    print(answer === null ? callbackId : formatAnswer(answer, speaker.names))
  })
}

async function nextMessage(
  control: Control,
  o: { speaker: Speaker; after: number; wait: number | true },
) {
  const { userId, chatId } = o.speaker
  const { inbox } = await control.inbox({
    userId,
    chatId,
    kinds: ['message'],
    after: o.after,
    wait: waitMs(o.wait),
  })
  return inbox[0] ?? nothingCame(o.speaker, o.wait)
}

async function answerTo(
  control: Control,
  o: { callbackId: string; speaker: Speaker; after: number; wait: number | true },
) {
  const { userId } = o.speaker
  const { answers } = await control.inbox({
    userId,
    kinds: ['answer'],
    after: o.after,
    wait: waitMs(o.wait),
  })
  const answer = answers.find(({ callbackId }) => callbackId === o.callbackId)
  return answer ?? nothingCame(o.speaker, o.wait)
}

/** @throws OperatorError `usage` */
async function findSpeaker(
  control: Control,
  { person, chat }: { person: string; chat: string },
): Promise<Speaker> {
  const names = await SandboxNames.read(control)
  const who = names.person(person)
  const { id: userId, username } = who
  const found = names.chatOf(who, chat)
  const speaker = { control, userId, username, chatName: chat }
  if ('chat' in found) return { ...speaker, names, chatId: found.chat.id, mode: found.chat.mode }
  const { id: chatId, mode } = await control.addPrivateChat({ userId, botId: found.bot.id })
  return { ...speaker, names: await SandboxNames.read(control), chatId, mode }
}

function messageWithButtons(
  messages: readonly ScreenMessage[],
  { speaker, messageId }: { speaker: Speaker; messageId: number | undefined },
): ScreenMessage {
  const found = messages.findLast((message) => {
    return messageId === undefined ? buttonsOf(message).length > 0 : message.messageId === messageId
  })
  if (found !== undefined && buttonsOf(found).length > 0) return found
  throw new OperatorError(
    'refused',
    messageId === undefined
      ? `no message in ${speaker.chatName} has buttons`
      : `no message ${messageId} with buttons is in ${speaker.chatName}`,
    'let the bot send one with an `inlineKeyboard` first',
  )
}

function buttonsOf({ markup }: ScreenMessage) {
  return markup?.inlineKeyboard.flat() ?? []
}

/** What the button sends that was meant. @throws OperatorError `usage` that lists the buttons */
function dataOf(message: ScreenMessage, written: string | undefined): string {
  const buttons = buttonsOf(message)
  const [only, ...others] = buttons
  const meant =
    written === undefined
      ? others.length === 0
        ? only
        : undefined
      : (buttons.find(({ text }) => text === written) ??
        buttons.find(({ callbackData }) => callbackData === written) ??
        buttons.find(({ text }) => text.toLowerCase() === written.toLowerCase()))
  if (meant?.callbackData !== undefined) return meant.callbackData
  throw new OperatorError(
    'usage',
    meant !== undefined
      ? `the button ${meant.text} opens an address, and tells the bot nothing`
      : written === undefined
        ? 'there are several buttons, and none is named'
        : `no button is called ${written}`,
    `message ${message.messageId} has ${buttons.map(({ text }) => text).join(', ')}`,
  )
}

function nothingCame({ username, chatName }: Speaker, wait: number | true): never {
  throw new OperatorError(
    'failed',
    `${username} saw no answer in ${chatName} within ${waitMs(wait) / 1000} s`,
    'see whether the bot runs, and what it says; --wait takes up to 60 seconds',
  )
}

function waitMs(wait: number | true): number {
  return (wait === true ? WAIT_SECONDS : wait) * 1000
}

function readFile(file: string): Buffer {
  try {
    const found = statSync(file)
    // A device or a pipe may never end.
    if (!found.isFile()) {
      throw new OperatorError('usage', `${file}: it is no file`, 'put what you send into a file')
    }
    const { size } = found
    if (size > MAX_FILE_BYTES) {
      throw new OperatorError('usage', `${file} is larger than 64 MiB`, 'send a smaller file')
    }
    return readFileSync(file)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`
    throw new OperatorError(
      'usage',
      `${file}: ${why}`,
      `name the file ${basename(file)} with its folder`,
    )
  }
}

function readSeconds(text: string): number {
  const seconds = Number(text)
  if (/^\d{1,2}$/.test(text) && seconds >= 1 && seconds <= MAX_WAIT_SECONDS) return seconds
  throw new InvalidArgumentError(`Expected seconds from 1 to ${MAX_WAIT_SECONDS}.`)
}

function readMessageId(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected the id of a message, a whole number.')
}
