/** `postern sandbox say`, `press` and `attach`: what a person of a running sandbox does. */
import { readFileSync, statSync } from 'node:fs'
import { failedError, refusedError, systemCodeOf, usageError, OperatorError } from '../errors.ts'
import { oneLine } from '../printable.ts'
import type { Control } from '../sandbox/control/table.ts'
import type { ScreenMessage } from '../sandbox/phone/screen.ts'
import type { SeenEvent } from '../sandbox/phone/seen.ts'
import { userRuntimeFolders } from '../config/sources.ts'
import { idReader, numberReader, type Switches } from './flags.ts'
import type { PosternCommand } from './help.ts'
import { print, printJson, printNotice } from './terminal.ts'
import { controlCommand, withSandbox, type ControlFlags } from './sandbox-client.ts'
import { readNames } from './sandbox-names.ts'
import { formatSeen, NEWEST } from './activity.ts'
import { findSandboxes } from '../operators/running-sandboxes.ts'
import { refuseStart } from './page.ts'
import { readSeedFile } from './seed-file.ts'

type ActionFlags = ControlFlags &
  Switches<'json'> & { wait?: number | true; reply?: number; message?: number }

/** A person, the chat that they speak in, and the sandbox of both. */
type Speaker = Awaited<ReturnType<typeof findSpeaker>>

/** What a person did, and what answers it. */
interface Performed {
  /** Of the message or press; printed where no answer is awaited. */
  id: string
  /** What `--json` prints of it. */
  result: object
  notice: string
  answeredBy: 'message' | 'answer'
  isAnswer?: (seen: SeenEvent) => boolean
}

/** What a person does by a command, read from its words and flags. */
type Perform = (words: string[], flags: ActionFlags) => (speaker: Speaker) => Promise<Performed>

/** As large as the sandbox stores files. */
const MAX_FILE_BYTES = 64 * 1024 * 1024
const WAIT_SECONDS = 10
const readSeconds = numberReader('seconds', 1, 60)
const readMessageId = idReader('message', '`postern sandbox say` prints the id of its message')
const REPLY = ['--reply <messageId>', 'quote this message', readMessageId] as const

/** `postern sandbox say`, `press` and `attach`: what a person of a running sandbox does. */
export const sandboxActionCommands = (): PosternCommand[] => [
  actionCommand('say', (words, { reply }) => write(words.join(' '), reply))
    .description('write into a chat as a person of a running sandbox, and print the message’s id')
    .argument('<words...>', 'what to write')
    .option(...REPLY)
    .example('postern sandbox say alice dm "hi" --wait'),
  actionCommand('press', ([button], { message }) => press(button, message))
    .description('press a button as a person of a running sandbox')
    .argument('[button]', 'its text or data; may be left out where there is one button alone')
    .option('--message <messageId>', 'below this one; else the newest with buttons', readMessageId)
    .example('postern sandbox press alice dm Yes --wait'),
  actionCommand('attach', ([file = '', ...words], { reply }) =>
    write(words.join(' '), reply, readFile(file).toString('base64')),
  )
    .description('send a file as a person of a running sandbox, and print the message’s id')
    .argument('<file>', 'which file, of at most 64 MiB')
    .argument('[words...]', 'what to write with it')
    .option(...REPLY)
    .example('postern sandbox attach alice dm picture.png "look at this"'),
]

function actionCommand(name: string, perform: Perform): PosternCommand {
  const command = controlCommand(name)
  return command
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
    .action(async () => {
      const [person = '', chat = '', ...rest] = command.processedArgs.flat() as string[]
      // With `--json`, which the parser gives to `postern sandbox`.
      const flags: ActionFlags = command.optsWithGlobals()
      const performAs = perform(rest, flags)
      await withSandbox(flags, async (control, controlUrl) => {
        const speaker = await findSpeaker({ control, controlUrl }, { person, chat })
        await act(speaker, flags, performAs)
      })
    })
}

/** Lets a person do something, and prints its id, or the answer that their phone shows. */
async function act(
  speaker: Speaker,
  { wait, json }: ActionFlags,
  performAs: (speaker: Speaker) => Promise<Performed>,
): Promise<void> {
  const { control, userId, chatId, names } = speaker
  const { last } = await control.inbox({ userId, after: NEWEST })
  const sinceMs = Date.now()
  const { id, result, notice, answeredBy, isAnswer = () => true } = await performAs(speaker)
  let answer: SeenEvent | undefined
  if (wait !== undefined) {
    const waitMs = (wait === true ? WAIT_SECONDS : wait) * 1000
    const kinds = [answeredBy]
    const { seen } = await control.inbox({ userId, chatId, kinds, after: last, wait: waitMs })
    answer = seen.find(isAnswer) ?? nothingCame(speaker, waitMs, sinceMs)
  }
  if (json === true) {
    return printJson({ ...result, userId, chatId, ...(answer !== undefined && { answer }) })
  }
  printNotice(notice)
  print(answer === undefined ? id : formatSeen(answer, names))
}

/** Writes a text, or sends a file with it. */
const write =
  (text: string, replyTo?: number, base64?: string): ReturnType<Perform> =>
  async ({ control, userId, chatId, username, chatName, mode }) => {
    const message = { userId, chatId, text, replyTo }
    const result =
      base64 === undefined
        ? await control.write(message)
        : await control.sendMedia({ ...message, base64 })
    const how = mode === 'protected' ? 'sealed' : 'readable'
    const notice = `${username} wrote into ${chatName} (${how})`
    return { id: String(result.messageId), result, notice, answeredBy: 'message' }
  }

/** Presses a button. @param below id of its message */
const press =
  (button?: string, below?: number): ReturnType<Perform> =>
  async (speaker) => {
    const { control, userId, chatId, username } = speaker
    const { messages } = await control.screen({ userId, chatId })
    const message = messageWithButtons(messages, speaker.chatName, below)
    const data = dataOf(message, button)
    const { messageId } = message
    const { callbackId } = await control.press({ userId, chatId, messageId, data })
    return {
      id: callbackId,
      result: { callbackId, messageId, data },
      notice: `${username} pressed ${oneLine(data)} below message ${messageId}`,
      answeredBy: 'answer',
      isAnswer: (seen) => seen.kind === 'answer' && seen.callbackId === callbackId,
    }
  }

/** @throws OperatorError `usage` */
async function findSpeaker(
  at: { control: Control; controlUrl: string },
  { person, chat }: { person: string; chat: string },
) {
  const { control } = at
  const names = await readNames(control)
  const who = names.person(person)
  const { id: userId, username } = who
  const found = names.chatOf(who, chat)
  const speaker = { ...at, userId, username, chatName: chat }
  if ('chat' in found) {
    return { ...speaker, names, chatId: found.chat.id, mode: found.chat.trueMode }
  }
  const { id: chatId, mode } = await control.addPrivateChat({ userId, botId: found.bot.id })
  return { ...speaker, names: await readNames(control), chatId, mode }
}

function messageWithButtons(messages: readonly ScreenMessage[], chat: string, messageId?: number) {
  const found = messages.findLast((message) => {
    return messageId === undefined ? buttonsOf(message).length > 0 : message.messageId === messageId
  })
  if (found !== undefined && buttonsOf(found).length > 0) return found
  throw refusedError(
    messageId === undefined
      ? `no message in ${chat} has buttons`
      : `no message ${messageId} with buttons is in ${chat}`,
    'let the bot send one with an `inlineKeyboard` first',
  )
}

const buttonsOf = ({ markup }: ScreenMessage) => markup?.inlineKeyboard.flat() ?? []

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
  throw usageError(
    meant !== undefined
      ? `the button ${meant.text} opens an address, and tells the bot nothing`
      : written === undefined
        ? 'there are several buttons, and none is named'
        : `no button is called ${written}`,
    `message ${message.messageId} has ${buttons.map(({ text }) => text).join(', ')}`,
  )
}

/** @param sinceMs when the person acted: ms since 1970, by this machine's clock */
function nothingCame(speaker: Speaker, waitMs: number, sinceMs: number): never {
  const { username, chatName, controlUrl } = speaker
  const found = findSandboxes(userRuntimeFolders()).find((one) => one.controlUrl === controlUrl)
  const { atMs, text } = found?.trouble ?? { atMs: 0, text: '' }
  const why = atMs === null || atMs >= sinceMs ? `: ${text}` : ''
  throw failedError(
    `${username} saw no answer in ${chatName} within ${waitMs / 1000} s${why}`,
    'see whether the bot runs, and what it says; --wait takes up to 60 seconds',
  )
}

function readFile(file: string): Buffer {
  try {
    const found = statSync(file, { throwIfNoEntry: false })
    if (found === undefined) throw unfit(file, 'there is no such file')
    // A device or a pipe may never end.
    if (!found.isFile()) throw unfit(file, 'it is no file')
    if (found.size > MAX_FILE_BYTES) throw unfit(file, 'it is larger than 64 MiB')
    return readFileSync(file)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw unfit(file, `it cannot be read (${systemCodeOf(error)})`)
  }
}

const unfit = (file: string, why: string): OperatorError =>
  usageError(`${file}: ${why}`, 'name a file of at most 64 MiB, with its folder')

export const sandboxPlayCommand = (): PosternCommand =>
  controlCommand('play')
    .description('play the steps of a seed file in a running sandbox, as a test of the bot')
    .argument('<file>', 'a scenario, as the page of a sandbox saves one')
    .option('--wait <seconds>', 'how long a step waits for the bot', readSeconds, 15)
    .example('postern sandbox play scenario.json')
    .action(play)

async function play(file: string, flags: ControlFlags & { wait: number }): Promise<void> {
  const seed = readSeedFile(file)
  const { playScenario, ScenarioError } = await import('../sandbox/scenario/play.ts')
  await withSandbox(flags, async (control) => {
    try {
      await playScenario(control, seed.content, { withinMs: flags.wait * 1000 })
    } catch (error) {
      if (!(error instanceof ScenarioError)) refuseStart(error, seed, '--control')
      // How it differs has people's words, which are for stdout alone.
      print(error.message)
      throw new OperatorError('scenario-differs', `step ${error.step} of ${file} differs`)
    }
  })
  printNotice('every step passed')
}
