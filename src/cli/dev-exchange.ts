/** A bot's reads and actions, derived from its exchanges with the sidecar. */
import { API_PREFIX } from '../api/endpoints.ts'
import { describeSkip } from '../translate/reasons/reason-descriptions.ts'
import { describeVerdict } from '../translate/verdict-descriptions.ts'
import type { BotExchange } from '../api/envelope.ts'
import { resultOr } from '../errors.ts'
import { type ActivityMark, VERDICT_MARKS, withButtons } from './activity.ts'

/** One update that the bot got, and what it could read of it. */
export interface BotRead {
  updateId: number | null
  /** The message that it is about; null for another kind of update. */
  message: { chatId: number; messageId: number } | null
  /** The button that was pressed, by whom; null for another kind of update. */
  press: { userId: number | null; data: string } | null
  /** The text that the bot got; null when it got none. */
  text: string | null
  /** Why it got none, in a sentence; null when nothing was withheld. */
  withheld: string | null
  mark: ActivityMark | undefined
}

/** What the bot asked for, where somebody should know of it. */
export interface BotAction {
  /** The resulting message. */
  sent: { chatId: number; messageId: number } | null
  chatId: number | null
  text: string
  mark: ActivityMark | undefined
  /** The refusal in a clause, for `say --wait`; null when it was not refused. */
  refusal: string | null
  /** To whom it was not sealed, and why. */
  skipped: { userId: number; why: string }[]
}

type Fields = Record<string, unknown>

const SEND = 'POST /messages'

/** The refusal of a call with a token that this world does not know. */
export const NO_ACCESS = 'the bot has the wrong token'

/** The updates that the bot gets with an answer to its poll, or by a delivery that starts. */
export function readsIn(exchange: BotExchange): BotRead[] {
  if (exchange.kind === 'deliveryStart') return [readOf(parse(exchange.request))]
  if (!isSuccess(exchange) || routeOf(exchange) !== 'GET /updates') return []
  const { result } = parse(exchange.answer)
  return Array.isArray(result) ? result.map((update) => readOf(fields(update))) : []
}

/** The bot's action by a call without an event of the sandbox, such as a message or a refusal. */
export function actionIn(exchange: BotExchange): BotAction | null {
  const { kind, status } = exchange
  if (kind === 'deliveryStart' || (kind === 'call' && status === 0)) return null
  const request = parse(exchange.request)
  const answer = parse(exchange.answer)
  const route = routeOf(exchange)
  const chatId = integer(request['chatId'])
  const plain = { sent: null, chatId: null, mark: undefined, skipped: [], refusal: null }
  if (!isSuccess(exchange)) {
    const error = fields(answer['error'])
    const message = kind === 'delivery' ? exchange.answer : error['message']
    const why = typeof message === 'string' && message !== '' ? `\n${message}` : ''
    const refused = {
      call: route === SEND ? `${route} is refused: ${wordsOf(request)}` : route,
      delivery: `does not take update ${String(request['updateId'])} at its webhook`,
    }[kind]
    const code = typeof error['code'] === 'string' ? `${status} ${error['code']}` : String(status)
    const call = route === SEND ? 'answer' : `call ${route}`
    const refusal = status === 401 ? NO_ACCESS : `the bot’s ${call} was refused: ${code}`
    return {
      ...plain,
      chatId,
      text: refused + why,
      mark: { colour: 'red', text: status === 0 ? '✗' : `✗ ${code}` },
      refusal: kind === 'delivery' ? `the bot ${refused}` : refusal,
    }
  }
  if (kind === 'delivery') return null
  if (route === 'POST /webhook') {
    return { ...plain, text: `sets its webhook: ${String(request['url'])}` }
  }
  if (route === 'DELETE /webhook') return { ...plain, text: 'removes its webhook' }
  if (route !== SEND) return null
  const result = fields(answer['result'])
  const postern = fields(result['postern'])
  return {
    ...plain,
    sent: messageKey(chatId, result['id']),
    chatId,
    text: wordsOf(request),
    mark: postern['sealed'] === true ? undefined : VERDICT_MARKS.readable,
    skipped: skippedIn(postern['skipped']),
  }
}

function readOf(update: Fields): BotRead {
  const press = fields(update['callbackQuery'])
  const isPress = update['callbackQuery'] !== undefined
  const message = fields(isPress ? press['message'] : update['message'])
  const read: BotRead = {
    updateId: integer(update['updateId']),
    message: messageKey(integer(fields(message['chat'])['id']), message['id']),
    press: null,
    text: null,
    withheld: null,
    mark: undefined,
  }
  if (isPress) {
    const userId = integer(fields(press['from'])['id'])
    return { ...read, press: { userId, data: String(press['data']) } }
  }
  return (message['kind'] ?? 'user') === 'user' ? { ...read, ...verdictOf(message) } : read
}

function verdictOf(message: Fields): Pick<BotRead, 'text' | 'withheld' | 'mark'> {
  const text = typeof message['text'] === 'string' ? message['text'] : null
  const { verdict, reason } = fields(message['postern'])
  if (typeof verdict !== 'string') {
    return { text: text ?? '', withheld: null, mark: text ? VERDICT_MARKS.readable : undefined }
  }
  const named = typeof reason === 'string' ? `${verdict} (${reason})` : verdict
  if (verdict === 'verified') {
    return { text, withheld: null, mark: { colour: 'green', text: `✓ ${named}` } }
  }
  if (text !== null) return { text, withheld: null, mark: { colour: 'yellow', text: `✗ ${named}` } }
  const described = describeVerdict(verdict, typeof reason === 'string' ? reason : null)
  return {
    text,
    withheld: described?.what ?? 'its text was withheld',
    mark: { colour: 'red', text: `✗ withheld: ${named}` },
  }
}

/** The text of a send, with its buttons. */
function wordsOf(request: Fields): string {
  const text = typeof request['text'] === 'string' ? request['text'] : ''
  const rows = fields(request['markup'])['inlineKeyboard']
  const buttons = Array.isArray(rows) ? (rows as unknown[]).flat() : []
  return withButtons([text], buttons.map(fields)).trim()
}

function skippedIn(value: unknown): BotAction['skipped'] {
  if (!Array.isArray(value)) return []
  return (value as unknown[]).map((one) => {
    const { userId, reason } = fields(one)
    const named = String(reason)
    const what = describeSkip(named)?.what
    return { userId: integer(userId) ?? 0, why: what === undefined ? named : `${named}: ${what}` }
  })
}

/** The method and path of a call, as the specification names them. */
function routeOf({ method, path }: BotExchange): string {
  const [plain = ''] = path.split('?', 1)
  return `${method} ${plain.startsWith(API_PREFIX) ? plain.slice(API_PREFIX.length) : plain}`
}

const isSuccess = ({ status }: BotExchange): boolean => status >= 200 && status < 300

function messageKey(chatId: number | null, id: unknown): BotRead['message'] {
  const messageId = integer(id)
  return chatId === null || messageId === null ? null : { chatId, messageId }
}

const integer = (value: unknown): number | null =>
  Number.isSafeInteger(value) ? (value as number) : null

const fields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

const parse = (json: string): Fields => resultOr(() => fields(JSON.parse(json)), {})
