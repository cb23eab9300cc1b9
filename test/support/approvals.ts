/** Rules that demand a person's word, and the clearance of calls that need none. */
import { LIMITS } from '../../src/api/limits.ts'
import {
  Approvals,
  type ApprovalParts,
  type Clearance,
  type FinalVerdict,
  type JudgedMessage,
} from '../../src/kernel/index.ts'
import { Edits, type EditsParts } from '../../src/outbox/edits.ts'
import type { OutboxEntriesParts } from '../../src/outbox/entries.ts'
import type { Draft } from '../../src/translate/draft.ts'
import { REAL_CLOCK } from '../../src/util/clock.ts'

export const approvalsOf = (parts: Partial<ApprovalParts> = {}): Approvals =>
  new Approvals({
    rules: [],
    knownChats: { all: [], get: () => undefined },
    trust: { distrust: () => null, isShared: () => false },
    people: { isOthers: () => false },
    ...parts,
  })

/** Edits do not coalesce, in a world without known chats. */
export const editsOf = (parts: Partial<EditsParts> = {}): Edits =>
  new Edits({
    isOn: false,
    limits: () => LIMITS,
    knownChats: { get: () => undefined },
    clock: REAL_CLOCK,
    ...parts,
  })

/** No call needs a word, and the journal is not kept. */
export const NO_APPROVALS: OutboxEntriesParts = {
  approvals: approvalsOf(),
  clients: { hasLost: () => false },
  journal: { append: async () => () => {} },
  textMax: () => 4096,
}

/** The clearance of a call that needs no word. */
export function cleared({ chatId, target }: Pick<Draft, 'chatId' | 'target'>): Clearance {
  const messageId = target.route === 'send' ? null : '1'
  const clearance = approvalsOf().clear({ client: null, chatId, messageId })
  if (clearance === null) throw new Error('it needs a word')
  return clearance
}

/**
 * A verified reply with a text, as it was judged, that quotes message 9.
 * @param more where it was found, and by whom; @param o its verdict, and parts of the Message
 */
export function replyOf(
  text: unknown,
  more: { chatId: number; updateChatId: number; fromId: number },
  o: { final?: FinalVerdict | null; [part: string]: unknown } = {},
): JudgedMessage {
  const { final = { verdict: 'verified', signer: 'f', signedAtMs: 1_500_000 }, ...parts } = o
  const found = {
    message: { replyTo: { id: 9 }, text, ...parts },
    position: 'top',
    isOrdinary: true,
    messageId: 12,
    ...more,
  }
  return { found, finding: { kind: 'untouched' }, final, ms: 0, updateId: 1 } as never
}
