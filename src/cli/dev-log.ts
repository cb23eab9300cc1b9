/**
 * The events of `postern dev`, as one readable log: messages of people, updates and answers of the
 * bot, refusals with their reasons, and the bot's output.
 */
import type { Sandbox } from '../sandbox/create.ts'
import type { SandboxEvent } from '../sandbox/events/event.ts'
import type { ScreenMessage } from '../sandbox/phone/screen.ts'
import type { BotExchange } from '../api/envelope.ts'
import { countedCache } from '../util/caches.ts'
import { type ActivityMark, activityPrinter, type Activity } from './activity.ts'
import { actionIn, readsIn, NO_ACCESS, type BotAction, type BotRead } from './dev-exchange.ts'
import type { AnnouncedSandbox } from './running-sandboxes.ts'
import { readNames, type SandboxNames } from './sandbox-names.ts'
import { describeAnswer, VERDICT_MARKS, withButtons } from './sandbox-seen.ts'

type MessageKey = { chatId: number; messageId: number }

/** What a phone shows of a message. */
interface PhoneView {
  userId: number
  message: ScreenMessage
}

/** How many messages and updates are remembered. */
const REMEMBERED = 10_000

/** Prints what happens, in the order in which it does. */
export class DevLog {
  readonly #sandbox: Sandbox
  readonly #botId: number
  readonly #printer: ReturnType<typeof activityPrinter>
  #names: SandboxNames | null = null
  #work: Promise<void> = Promise.resolve()
  /** Words of messages that were shown, by chat and message. */
  readonly #words = countedCache<string, string>(REMEMBERED)
  /** Updates that the bot read. */
  readonly #read = countedCache<string, true>(REMEMBERED)
  /** Faults that were shown, by number and call. */
  readonly #faults = countedCache<string, true>(REMEMBERED)
  /** The line below a refused answer, by chat: the last question. */
  readonly #asked = new Map<number, string>()
  #hasNoAccess = false
  /** Called with the reason why the bot cannot answer; null once it can. */
  onTrouble: AnnouncedSandbox['tell'] = () => undefined
  /** The message that was shown last. */
  #newest = ''

  /** @param o `print` is given lines that fit the terminal */
  constructor(o: { sandbox: Sandbox; botId: number; print: (lines: string) => void }) {
    this.#sandbox = o.sandbox
    this.#botId = o.botId
    this.#printer = activityPrinter(o.print)
  }

  /** Follows what happens in the sandbox from now on, until it closes. */
  async follow(): Promise<void> {
    for (let isOver = false; !isOver;) {
      try {
        for await (const event of this.#sandbox.events()) this.#later(() => this.#onEvent(event))
        isOver = true
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        this.show({ who: 'dev', text: 'so much happened that some of it is not shown' })
      }
    }
  }

  /** Logs a call of the bot, or a delivery to it. */
  exchange(exchange: BotExchange): void {
    this.#later(() => this.#onExchange(exchange))
  }

  /** Notes what keeps the bot from answering. @param o `isLasting`: until the bot is heard again */
  trouble(text: string | null, { isLasting = true } = {}): void {
    this.#hasNoAccess = text === NO_ACCESS
    this.onTrouble(text === null ? null : { atMs: isLasting ? null : Date.now(), text })
  }

  /** Logs any other activity. */
  show(activity: Activity): void {
    this.#later(() => this.#printer.write(activity))
  }

  /** Resolves when everything so far is printed. */
  async settled(): Promise<void> {
    await this.#work
  }

  /** In order: a line whose names are fetched first delays all later ones. */
  #later(handle: () => Promise<void> | void): void {
    this.#work = this.#work.then(handle).catch(() => {
      // The fetched object may be gone by then, with its message or its world.
    })
  }

  async #onEvent(event: SandboxEvent): Promise<void> {
    if ('chatId' in event) await this.#know(event.chatId)
    switch (event.kind) {
      case 'message':
        return await this.#onMessage(event)
      case 'edited':
        return await this.#onEdited(event)
      case 'deleted':
        return this.#write('', this.#in(event, `message ${event.messageId} is gone`))
      case 'answer': {
        const shown = describeAnswer(event, 'takes the press')
        return this.#write(this.#account(event.botId), this.#in(event, shown))
      }
      case 'key': {
        await this.#know(event.userId)
        const text = event.fingerprint === null ? 'has no key any more' : 'publishes a key'
        return this.#write(this.#account(event.userId), text)
      }
      case 'notice':
        return this.#write('service', `tells the bot’s owner: ${event.notice}`)
      case 'fault':
        return this.#onFault(event)
      case 'restored':
        this.#names = null
        return this.#write('sandbox', 'the world was put back')
      case 'step':
        if (event.reason === null) return
        return this.#write('seed', `${event.action}: ${event.reason}`)
      case 'call':
      case 'typing':
      case 'queued':
      case 'delivered':
      case 'failed':
      case 'clock':
    }
  }

  async #onMessage(event: SandboxEvent & { kind: 'message' }): Promise<void> {
    const { fromId, messageId, notice } = event
    await this.#know(fromId)
    const who = this.#account(fromId)
    if (notice !== null) return this.#write(who, this.#in(event, notice))
    const views = await this.#views(event)
    if (fromId === this.#botId) {
      this.#asked.delete(event.chatId)
      return this.#onBotMessage(event, { who, views })
    }
    const own = views.find(({ userId }) => userId === fromId)?.message
    const words = own === undefined ? '' : wordsOf(own)
    this.#remember(event, own?.text ?? '')
    const text = this.#in(event, words === '' ? `message ${messageId}` : words)
    this.#asked.set(event.chatId, `${who} gets no answer to: ${words}`)
    this.#write(who, text, own?.verdict === 'verified' ? undefined : markOf(own))
  }

  /** Each fault once for each call that it strikes: one that lies strikes them all. */
  #onFault({ faultId, name, route }: SandboxEvent & { kind: 'fault' }): void {
    const key = `${faultId} ${route}`
    if (this.#faults.get(key) === true) return
    this.#faults.set(key, true)
    const text = `the fault ${name} strikes${route === null ? '' : ` ${route}`}`
    this.#write('service', text, { colour: 'yellow', text: 'fault' })
  }

  async #onEdited(event: SandboxEvent & { kind: 'edited' }): Promise<void> {
    await this.#know(event.fromId)
    const [view] = await this.#views(event)
    const words = view === undefined ? '' : `: ${wordsOf(view.message)}`
    this.#remember(event, view?.message.text ?? '')
    const text = this.#in(event, `edits message ${event.messageId}${words}`)
    this.#write(this.#account(event.fromId), text, markOf(view?.message))
  }

  /** The bot's words as phones opened them, and what each made of them. */
  #onBotMessage(key: MessageKey, { who, views }: { who: string; views: PhoneView[] }): void {
    const opened = views.find(({ message }) => message.verdict !== 'unopened')
    // For a text that no phone can read, the bot's own call is logged.
    if (opened === undefined) return
    this.#remember(key, opened.message.text)
    this.#write(who, this.#in(key, wordsOf(opened.message)))
    for (const { userId, message } of views) {
      this.#write(`  ${this.#account(userId)}`, 'reads it', markOf(message))
    }
  }

  async #onExchange(exchange: BotExchange): Promise<void> {
    await this.#know(this.#botId)
    const who = this.#account(this.#botId)
    for (const read of readsIn(exchange)) {
      if (read.message !== null) await this.#know(read.message.chatId)
      this.#write(`  ${who}`, this.#describeRead(read), read.mark)
    }
    const action = actionIn(exchange)
    if (this.#hasNoAccess && action?.refusal !== NO_ACCESS) this.trouble(null)
    if (action === null) return
    for (const id of [action.chatId, ...action.skipped.map(({ userId }) => userId)]) {
      if (id !== null) await this.#know(id)
    }
    this.#onAction(action, who)
  }

  #onAction({ sent, chatId, text, mark, skipped, refusal }: BotAction, who: string): void {
    if (sent === null || this.#words.get(nameOf(sent)) === undefined) {
      if (sent !== null) this.#remember(sent, text)
      const activity = { who, text: chatId === null ? text : this.#in({ chatId }, text), mark }
      if (refusal === null) this.#printer.write(activity)
      else {
        const asked = chatId === null ? undefined : this.#asked.get(chatId)
        if (asked !== undefined) activity.text += `\n${asked}`
        this.#printer.writeRefusal(activity)
        this.trouble(refusal, { isLasting: refusal === NO_ACCESS })
      }
    }
    for (const { userId, why } of skipped) {
      const left = { colour: 'yellow', text: '✗ cannot read it' } as const
      this.#write(`  ${this.#account(userId)}`, why, left)
    }
  }

  #describeRead({ updateId, message, press, text, withheld }: BotRead): string {
    const isAgain = this.#read.get(String(updateId)) === true
    this.#read.set(String(updateId), true)
    const reads = isAgain ? 'reads again' : 'reads'
    if (message === null) return `${reads} update ${updateId ?? ''}`
    const about = this.#in(message, `message ${message.messageId}`)
    if (press !== null) {
      const by = press.userId === null ? 'somebody' : this.#account(press.userId)
      return `${reads} that ${by} pressed ${press.data}, ${about}`
    }
    const it = this.#newest === nameOf(message) ? 'it' : about
    if (withheld !== null) return `gets ${it} without its text: ${withheld}`
    const written = this.#words.get(nameOf(message))
    return text === null || text === written ? `${reads} ${it}` : `${reads} ${it}: ${text}`
  }

  #write(who: string, text: string, mark?: ActivityMark): void {
    this.#printer.write({ who, text, mark })
  }

  /** What the phones of a chat show of a message. */
  async #views({ chatId, messageId }: MessageKey): Promise<PhoneView[]> {
    const { people, chats } = await this.#know(chatId)
    const members = chats.find(({ id }) => id === chatId)?.members ?? []
    const readers = people.filter(({ id, hasPhone }) => hasPhone && members.includes(id))
    const views = readers.map(async ({ id: userId }): Promise<PhoneView[]> => {
      const screen = await this.#sandbox.control.screen({ userId, chatId, messageId })
      return screen.messages.map((message) => ({ userId, message }))
    })
    return (await Promise.all(views)).flat()
  }

  /** Names that know a person, bot or chat. Who is in a chat may be others than when it was read. */
  async #know(id: number): Promise<SandboxNames> {
    if (this.#names?.has(id) === true) return this.#names
    this.#names = await readNames(this.#sandbox.control)
    return this.#names
  }

  #account(id: number): string {
    return this.#names?.accountName(id) ?? String(id)
  }

  #in({ chatId }: { chatId: number }, text: string): string {
    return `${this.#names?.chatName(chatId) ?? chatId}: ${text}`
  }

  #remember(key: MessageKey, words: string): void {
    this.#newest = nameOf(key)
    this.#words.set(this.#newest, words)
  }
}

const nameOf = ({ chatId, messageId }: MessageKey): string => `${chatId}/${messageId}`

/** A message's text with its files and buttons. */
function wordsOf({ text, media, markup }: ScreenMessage): string {
  const files =
    media.length === 0 ? [] : [media.length === 1 ? '[a file]' : `[${media.length} files]`]
  return withButtons([text, ...files], markup?.inlineKeyboard.flat())
}

function markOf(message: ScreenMessage | undefined): ActivityMark | undefined {
  return message === undefined ? undefined : VERDICT_MARKS[message.verdict]
}

/** Levels of log lines that need attention. */
const ERRORS = new Set<unknown>([50, 60, 'error', 'fatal'])
/** Fields that every line has. */
const COMMON = new Set(['level', 'time', 'msg'])

/** A line of the sidecar's log: its message and fields. @param line JSON */
export function describeLogLine(line: string): Activity {
  const fields = JSON.parse(line) as Record<string, unknown>
  const shown = Object.entries(fields)
    .filter(([name, value]) => !COMMON.has(name) && value !== null)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const message = String(fields['msg'])
  const isError = ERRORS.has(fields['level'])
  return {
    who: 'sidecar',
    text: shown.length === 0 ? message : `${message} (${shown.join(', ')})`,
    mark: isError ? { colour: 'red', text: '✗ error' } : { colour: 'yellow', text: 'warning' },
  }
}
