import { z } from 'zod'
import { CallbackAnswer } from '../../api/callback.ts'
import { PutCommands } from '../../api/command.ts'
import { firstProblem, isObject } from '../../api/common.ts'
import type { EndpointName } from '../../api/endpoints.ts'
import { DeleteBody, TypingBody } from '../../api/send.ts'
import { PutKey } from '../../api/user-key.ts'
import { Refusal } from '../../errors.ts'

/** What is looked at in a body before it is handed on. */
interface BodyRule {
  schema: z.ZodType
  /** `names`: only that no field is unknown, values are the service's to judge; `types`: both. */
  check: 'names' | 'types'
}

const NOTHING: BodyRule = { schema: z.strictObject({}), check: 'names' }

/** Endpoints that pass through, with the body that each may carry (DESIGN, What the bot sees). */
export const PASSED = {
  getCommands: NOTHING,
  putCommands: { schema: PutCommands, check: 'names' },
  deleteCommands: NOTHING,
  deleteMessage: { schema: DeleteBody, check: 'types' },
  answerCallback: { schema: CallbackAnswer, check: 'names' },
  getMembers: NOTHING,
  getMember: NOTHING,
  leaveChat: NOTHING,
  sendTyping: { schema: TypingBody, check: 'types' },
  resolve: NOTHING,
  getUserKey: NOTHING,
  revokeToken: NOTHING,
} as const satisfies Partial<Record<EndpointName, BodyRule>>

/** `PUT /key`, for a sidecar that manages no key. */
export const PASSED_KEY: BodyRule = { schema: PutKey, check: 'names' }

/**
 * Judges a parsed body by its rule. Nothing is changed: what passes is written anew from `body`.
 * @throws Refusal `bad_request` naming the field
 */
export function checkBody(rule: BodyRule, body: unknown): void {
  const result = rule.schema.safeParse(body)
  if (result.success) return
  for (const issue of result.error.issues) {
    if (issue.code !== 'unrecognized_keys') continue
    const field = [...issue.path, issue.keys[0]].join('.').slice(0, 128)
    throw new Refusal('bad_request', `${field}: no such field`)
  }
  if (!isObject(body)) throw new Refusal('bad_request', 'the body must be an object')
  if (rule.check === 'types') throw new Refusal('bad_request', firstProblem(result.error))
}
