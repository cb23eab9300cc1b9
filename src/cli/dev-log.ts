/**
 * The events of `postern dev`, as one readable log: messages of people, updates and answers of the
 * bot, refusals with their reasons, and the bot's output.
 */
import type { Sandbox } from '../sandbox/create.ts'
import type { EventKind, SandboxEvent } from '../sandbox/events/event.ts'
import type { ScreenMessage } from '../sandbox/phone/screen.ts'
import type { BotExchange } from '../api/envelope.ts'
import { countedCache } from '../util/caches.ts'
import { activityPrinter, describeAnswer, markOf, withButtons } from './activity.ts'
import type { ActivityMark, Activity } from './activity.ts'
import { actionIn, readsIn, NO_ACCESS, type BotAction, type BotRead } from './dev-exchange.ts'
import type { AnnouncedSandbox } from '../operators/running-sandboxes.ts'
import { readNames, type SandboxNames } from './sandbox-names.ts'

type MessageKey = { chatId: number; messageId: number }

/** What a phone shows of a message. */
interface PhoneView {
  userId: number
  message: ScreenMessage
}

/** How many messages and updates are remembered. */
const REMEMBERED = 10_000

type PrintEvent<Kind = EventKind> = (event: SandboxEvent & { kind: Kind }) => Promise<void> | void

/**
 * Prints what happens, in the order in which it does.
 * @param o `print` is given lines that fit the terminal
 */
export function createDevLog(o: {
  sandbox: Sandbox
  botId: number
  print: (lines: string) => void
}) {
  const { sandbox, botId } = o
  const printer = activityPrinter(o.print)
  let names: SandboxNames | null = null
  let work: Promise<void> = Promise.resolve()
  /** Words of messages that were shown, by chat and message. */
  const words = countedCache<string, string>(REMEMBERED)
  /** Updates that the bot read. */
  const updates = countedCache<string, true>(REMEMBERED)
  /** Faults that were shown, by number and call. */
  const faults = countedCache<string, true>(REMEMBERED)
  /** The line below a refused answer, by chat: the last question. */
  const asked = new Map<number, string>()
  /** Of a delivery under way: what the bot does next, or its end, shows that the bot has it. */
  let offered: BotRead[] = []
  let hasNoAccess = false
  /** The message that was shown last. */
  let newest = ''

  /** In order: a line whose names are fetched first delays all later ones. */
  const later = (handle: () => Promise<void> | void): void => {
    work = work.then(handle).catch(() => {
      // The fetched object may be gone by then, with its message or its world.
    })
  }

  const write = (who: string, text: string, mark?: ActivityMark): void =>
    printer.write({ who, text, mark })

  /** Names that know a person, bot or chat. Who is in a chat may be others than when it was read. */
  const know = async (id: number): Promise<SandboxNames> => {
    if (names?.has(id) !== true) names = await readNames(sandbox.control)
    return names
  }

  const account = (id: number): string => names?.accountName(id) ?? String(id)

  const inChat = ({ chatId }: { chatId: number }, text: string): string =>
    `${names?.chatName(chatId) ?? chatId}: ${text}`

  const remember = (key: MessageKey, text: string): void => {
    newest = nameOf(key)
    words.set(newest, text)
  }

  /** What the phones of a chat show of a message. */
  const viewsOf = async ({ chatId, messageId }: MessageKey): Promise<PhoneView[]> => {
    const { people, chats } = await know(chatId)
    const members = chats.find(({ id }) => id === chatId)?.members ?? []
    const readers = people.filter(({ id, hasPhone }) => hasPhone && members.includes(id))
    const views = readers.map(async ({ id: userId }): Promise<PhoneView[]> => {
      const screen = await sandbox.control.screen({ userId, chatId, messageId })
      return screen.messages.map((message) => ({ userId, message }))
    })
    return (await Promise.all(views)).flat()
  }

  /** The bot's words as phones opened them, and what each made of them. */
  const writeBotMessage = (key: MessageKey, who: string, views: PhoneView[]): void => {
    const opened = views.find(({ message }) => message.verdict !== 'unopened')
    // For a text that no phone can read, the bot's own call is logged.
    if (opened === undefined) return
    remember(key, opened.message.text)
    write(who, inChat(key, wordsOf(opened.message)))
    for (const { userId, message } of views) {
      write(`  ${account(userId)}`, 'reads it', markOf(message))
    }
  }

  /** How each event is printed; the others are not. */
  const onEvent: { [Kind in EventKind]?: PrintEvent<Kind> } = {
    message: async (event) => {
      const { fromId, messageId, notice } = event
      await know(fromId)
      const who = account(fromId)
      if (notice !== null) return write(who, inChat(event, notice))
      if (fromId === botId) writeReads()
      const views = await viewsOf(event)
      if (fromId === botId) {
        asked.delete(event.chatId)
        return writeBotMessage(event, who, views)
      }
      const own = views.find(({ userId }) => userId === fromId)?.message
      const written = own === undefined ? '' : wordsOf(own)
      remember(event, own?.text ?? '')
      const text = inChat(event, written === '' ? `message ${messageId}` : written)
      asked.set(event.chatId, `${who} gets no answer to: ${written}`)
      write(who, text, own && own.verdict !== 'verified' ? markOf(own) : undefined)
    },
    edited: async (event) => {
      await know(event.fromId)
      const [view] = await viewsOf(event)
      const written = view === undefined ? '' : `: ${wordsOf(view.message)}`
      remember(event, view?.message.text ?? '')
      const text = inChat(event, `edits message ${event.messageId}${written}`)
      write(account(event.fromId), text, view && markOf(view.message))
    },
    deleted: (event) => write('', inChat(event, `message ${event.messageId} is gone`)),
    answer: (event) =>
      write(account(event.botId), inChat(event, describeAnswer(event, 'takes the press'))),
    key: async ({ userId, fingerprint }) => {
      await know(userId)
      write(account(userId), fingerprint === null ? 'has no key any more' : 'publishes a key')
    },
    notice: ({ notice }) => write('service', `tells the bot’s owner: ${notice}`),
    // Each once for each call that it strikes: one that lies strikes them all.
    fault: ({ faultId, name, route }) => {
      const key = `${faultId} ${route}`
      if (faults.get(key) === true) return
      faults.set(key, true)
      const text = `the fault ${name} strikes${route === null ? '' : ` ${route}`}`
      write('service', text, { colour: 'yellow', text: 'fault' })
    },
    restored: () => {
      names = null
      write('sandbox', 'the world was put back')
    },
    step: ({ action, reason }) => {
      if (reason !== null) write('seed', `${action}: ${reason}`)
    },
  }

  const describeRead = ({ updateId, message, press, text, withheld }: BotRead): string => {
    const isAgain = updates.get(String(updateId)) === true
    updates.set(String(updateId), true)
    const again = isAgain ? ' again' : ''
    if (message === null) return `reads update ${updateId ?? ''}${again}`
    const about = inChat(message, `message ${message.messageId}`)
    if (press !== null) {
      const by = press.userId === null ? 'somebody' : account(press.userId)
      return `reads${again} that ${by} pressed ${press.data}, ${about}`
    }
    const it = newest === nameOf(message) ? 'it' : about
    if (withheld !== null) return `gets ${it} without its text: ${withheld}`
    const written = words.get(nameOf(message))
    return text === null || text === written
      ? `reads ${it}${again}`
      : `reads ${it}${again}: ${text}`
  }

  const writeReads = (who = account(botId)): void => {
    for (const read of offered.splice(0)) write(`  ${who}`, describeRead(read), read.mark)
  }

  const onAction = (action: BotAction, who: string): void => {
    const { sent, chatId, text, mark, skipped, refusal } = action
    if (sent === null || words.get(nameOf(sent)) === undefined) {
      if (sent !== null) remember(sent, text)
      const activity = { who, text: chatId === null ? text : inChat({ chatId }, text), mark }
      if (refusal === null) printer.write(activity)
      else {
        const question = chatId === null ? undefined : asked.get(chatId)
        if (question !== undefined) activity.text += `\n${question}`
        printer.writeRefusal(activity)
        log.trouble(refusal, { isLasting: refusal === NO_ACCESS })
      }
    }
    for (const { userId, why } of skipped) {
      const left = { colour: 'yellow', text: '✗ cannot read it' } as const
      write(`  ${account(userId)}`, why, left)
    }
  }

  const onExchange = async (exchange: BotExchange): Promise<void> => {
    await know(botId)
    const who = exchange.caller ?? account(botId)
    const reads = readsIn(exchange)
    for (const { message } of reads) if (message !== null) await know(message.chatId)
    if (exchange.kind === 'delivery' && exchange.status === 0) offered = []
    else if (exchange.kind !== 'deliveryStart') writeReads()
    offered.push(...reads)
    if (exchange.kind === 'call') writeReads(who)
    const action = actionIn(exchange)
    if (hasNoAccess && action?.refusal !== NO_ACCESS) log.trouble(null)
    if (action === null) return
    for (const id of [action.chatId, ...action.skipped.map(({ userId }) => userId)]) {
      if (id !== null) await know(id)
    }
    onAction(action, who)
  }

  const log = {
    /** Called with the reason why the bot cannot answer; null once it can. */
    onTrouble: (() => undefined) as AnnouncedSandbox['tell'],

    /** Follows what happens in the sandbox from now on, until it closes. */
    follow: async (): Promise<void> => {
      for (let isOver = false; !isOver;) {
        try {
          for await (const event of sandbox.events()) {
            later(async () => {
              if ('chatId' in event) await know(event.chatId)
              const printEvent = onEvent[event.kind] as PrintEvent | undefined
              await printEvent?.(event)
            })
          }
          isOver = true
        } catch (error) {
          if (!(error instanceof RangeError)) throw error
          log.show({ who: 'dev', text: 'so much happened that some of it is not shown' })
        }
      }
    },

    /** Logs a call of the bot, or a delivery to it. */
    exchange: (exchange: BotExchange): void => later(() => onExchange(exchange)),

    /** Notes what keeps the bot from answering. @param o `isLasting`: until the bot is heard again */
    trouble: (text: string | null, { isLasting = true } = {}): void => {
      hasNoAccess = text === NO_ACCESS
      log.onTrouble(text === null ? null : { atMs: isLasting ? null : Date.now(), text })
    },

    /** Logs any other activity. */
    show: (activity: Activity): void => later(() => printer.write(activity)),

    /** Resolves when everything so far is printed. */
    settled: async (): Promise<void> => await work,
  }
  return log
}

const nameOf = ({ chatId, messageId }: MessageKey): string => `${chatId}/${messageId}`

/** A message's text with its files and buttons. */
function wordsOf({ text, media, markup }: ScreenMessage): string {
  const files =
    media.length === 0 ? [] : [media.length === 1 ? '[a file]' : `[${media.length} files]`]
  return withButtons([text, ...files], markup?.inlineKeyboard.flat())
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
