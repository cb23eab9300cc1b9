import { z } from 'zod'
import { CallbackAnswer } from '../../api/buttons.ts'
import { PutCommands } from '../../api/command.ts'
import { firstProblem, isObject } from '../../api/common.ts'
import type { EndpointName } from '../../api/endpoints.ts'
import { DeleteBody, TypingBody } from '../../api/send.ts'
import { Refusal } from '../../errors.ts'

/** How a body is checked before it is relayed. */
export interface BodyRule {
  schema: z.ZodObject
  /**
   * Which fields that the spec does not list may go along: `all` where the service can read the
   * whole body anyway, `wordless` (numbers, booleans, null) where the call belongs to a chat that
   * may be protected, `by-chat` where it names its chat: all into a readable one, else wordless.
   */
  unlisted: 'all' | 'wordless' | 'by-chat'
  /** `names`: values of listed fields are the service's to judge. `types`: they must fit. */
  check: 'names' | 'types'
}

/**
 * Endpoints that pass through, with the body that each may have; null
 * where the spec defines none, so that a body is ignored.
 */
export const PASSED = {
  getCommands: null,
  putCommands: { schema: PutCommands, unlisted: 'all', check: 'names' },
  deleteCommands: null,
  /** For a sidecar that manages no key. */
  putKey: { schema: z.object({}), unlisted: 'all', check: 'names' },
  deleteMessage: { schema: DeleteBody, unlisted: 'by-chat', check: 'types' },
  answerCallback: { schema: CallbackAnswer, unlisted: 'wordless', check: 'names' },
  getMembers: null,
  getMember: null,
  leaveChat: null,
  sendTyping: { schema: TypingBody, unlisted: 'by-chat', check: 'types' },
  resolve: null,
  getUserKey: null,
  revokeToken: null,
} as const satisfies Partial<Record<EndpointName, BodyRule | null>>

/**
 * Checks a parsed body by its rule without changing it: the request is serialized from `body`.
 * @returns the field that only a readable chat accepts; null: the body may go anywhere
 * @throws Refusal `bad_request` naming the field
 */
export function checkBody({ schema, unlisted, check }: BodyRule, body: unknown): string | null {
  if (!isObject(body)) throw new Refusal('bad_request', 'the body must be an object')
  const wordy =
    unlisted === 'all'
      ? undefined
      : Object.keys(body).find(
          (name) => !Object.hasOwn(schema.shape, name) && mayHoldWords(body[name]),
        )
  if (Object.hasOwn(body, 'constructor')) throw noSuchField('constructor')
  if (wordy !== undefined && unlisted === 'wordless') throw noSuchField(wordy)
  if (check === 'types') {
    const result = schema.strip().safeParse(body)
    if (!result.success) throw new Refusal('bad_request', firstProblem(result.error))
  }
  return wordy ?? null
}

/** @param name as the bot wrote it */
export const noSuchField = (name: string): Refusal =>
  new Refusal('bad_request', `${name.slice(0, 128)}: no such field`)

const mayHoldWords = (value: unknown): boolean =>
  typeof value === 'string' || (typeof value === 'object' && value !== null)
