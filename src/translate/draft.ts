/** Reads and checks a send or an edit of the bot (spec, POST /messages and PATCH /messages/{messageId}). */
import { randomUUID } from 'node:crypto'
import { firstProblem, isObject } from '../api/common.ts'
import { EDIT_FIELDS, OpenEditBody, OpenSendBody, SEND_FIELDS } from '../api/send.ts'
import { textProblem } from '../api/text.ts'
import { Refusal } from '../errors.ts'
import type { PermitTarget } from '../kernel/index.ts'

/** A send or an edit as it was validated; `fields` holds everything but `text` and `armored`. */
export interface Draft {
  target: PermitTarget
  chatId: number
  text: string | undefined
  /** Only from a bot that does its own sealing. */
  armored: string | undefined
  fields: { chatId: number; [name: string]: unknown }
  /** Fields that the spec does not list, for a readable chat alone. */
  unlisted: string[]
}

export interface DraftRules {
  textMax: number
  /** Whether the sidecar seals; then `armored` from the bot is the wrong kind, as in any open chat. */
  sealsForBot: boolean
}

/** In the bot's world every chat is readable. */
const EXPECTED = { expected: 'text' } as const

/**
 * Reads the parsed JSON body of `POST /messages`. A send without `sendId` gets one. A send without
 * a body is refused here unless the bot does its own sealing: the required body depends on the
 * chat.
 * @throws Refusal `bad_request`, `wrong_body_kind`
 */
export function readSend(json: unknown, rules: DraftRules): Draft {
  const parsed = OpenSendBody.safeParse(json)
  if (!parsed.success) {
    const extra = isObject(json) && ('text' in json || 'armored' in json) ? {} : EXPECTED
    throw new Refusal('bad_request', firstProblem(parsed.error), { extra })
  }
  const { text, armored, ...rest } = present(parsed.data)
  refuseKind(text, armored, rules)
  if (text === undefined && armored === undefined && rules.sealsForBot) throw bodyMissing('text')
  refuseText(text, rules)
  const fields = { ...rest, chatId: parsed.data.chatId, sendId: parsed.data.sendId ?? randomUUID() }
  const target: PermitTarget = { route: 'send', path: '/messages', isForSealed: false }
  return draft(target, { text, armored, fields }, SEND_FIELDS)
}

/**
 * Reads the parsed JSON body of `PATCH /messages/{messageId}`; absent and null markup are distinct.
 * One without a change is refused here unless the bot does its own sealing.
 * @throws Refusal `bad_request`, `wrong_body_kind`
 */
export function readEdit(messageId: string, json: unknown, rules: DraftRules): Draft {
  const parsed = OpenEditBody.safeParse(json)
  if (!parsed.success) throw new Refusal('bad_request', firstProblem(parsed.error))
  const { text, armored, ...rest } = present(parsed.data)
  refuseKind(text, armored, rules)
  if (text === undefined && armored === undefined && !('markup' in rest) && rules.sealsForBot) {
    throw nothingChanges('text')
  }
  refuseText(text, rules)
  const fields = { ...rest, chatId: parsed.data.chatId }
  const path = `/messages/${encodeURIComponent(messageId)}`
  const target: PermitTarget = { route: 'edit', path, isForSealed: false }
  return draft(target, { text, armored, fields }, EDIT_FIELDS)
}

/** Refuses an edit without a change; `expected` is the chat's kind of body (spec, Errors). */
export function nothingChanges(expected: 'text' | 'armored'): Refusal {
  const detail = `${expected}: an edit needs at least one change`
  return new Refusal('bad_request', detail, { extra: { expected } })
}

/** The refusal of a send without a body; `expected` is the chat's kind of body (spec, Errors). */
export function bodyMissing(expected: 'text' | 'armored'): Refusal {
  return new Refusal('bad_request', `${expected}: a message needs it`, { extra: { expected } })
}

function draft(
  target: PermitTarget,
  parts: { text: string | undefined; armored: string | undefined; fields: Draft['fields'] },
  listed: ReadonlySet<string>,
): Draft {
  const unlisted = Object.keys(parts.fields).filter((name) => !listed.has(name))
  return { target, chatId: parts.fields.chatId, ...parts, unlisted }
}

function refuseKind(
  text: string | undefined,
  armored: string | undefined,
  rules: DraftRules,
): void {
  if (armored !== undefined && rules.sealsForBot) {
    throw new Refusal('wrong_body_kind', 'this chat takes text', { extra: EXPECTED })
  }
  if (text !== undefined && armored !== undefined) {
    throw new Refusal('bad_request', 'armored: give either text or armored')
  }
}

function refuseText(text: string | undefined, rules: DraftRules): void {
  const problem = text === undefined ? null : textProblem(text, rules.textMax)
  if (problem !== null) throw new Refusal('bad_request', problem)
}

/** Drops keys whose value is undefined, which the schema adds for optional ones. */
function present<T extends object>(data: T): T {
  return Object.fromEntries(
    Object.entries(data).filter(([, value]) => value !== undefined),
  ) as unknown as T
}
