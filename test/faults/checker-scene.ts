/** The logs of a run in which all went well, and what the checker finds once they are doctored. */
import { check, type Evidence } from './checker.ts'
import { newHistory, type Handled, type History, type Later } from './history.ts'

export const CHAT = 9
export const FINGERPRINT = 'ab'.repeat(20)
export const NOW = 1_000_000

/** A run in which all went well: two sealed messages, handled and answered once. */
function kept(): { history: History; evidence: Evidence } {
  const history = newHistory(1)
  for (const n of [1, 2]) {
    const canary = `kp000000000000000${n}`
    const place = { atMs: NOW, chatId: CHAT, messageId: n }
    history.written.push({ ...place, userId: 4, canary, sealed: true, poison: null })
    history.handled.push(handled(n, `/say ${canary}`))
    history.said.set(`send-${n}`, {
      sendId: `send-${n}`,
      chatId: CHAT,
      canary: `kb000000000000000${n}`,
      answers: canary,
      accepted: [10 + n],
      lastRefusal: null,
    })
  }
  history.remembered.push({ atMs: NOW, chats: [{ id: CHAT, kind: 'private', latched: true }] })
  return { history, evidence: evidenceOf([1, 2]) }
}

const JOURNAL = {
  firstId: 1,
  lastId: 1,
  entries: 1,
  forgotten: 0,
  heads: { signed: 1, unsigned: 0 },
  lastSigned: { entry: 1, at: '', signer: FINGERPRINT },
  unsignedEntries: 0,
  given: 'none' as const,
  fault: null,
  lines: [],
}

export function handled(n: number, text: string | null, more: Partial<Handled> = {}): Handled {
  return {
    atMs: NOW,
    life: 1,
    updateId: 500 + n,
    chatId: CHAT,
    messageId: n,
    text,
    verdict: 'verified',
    reason: null,
    withheld: null,
    sidecar: 0,
    confirmedBelow: 0,
    ...more,
  }
}

function evidenceOf(ids: number[]): Evidence {
  const updates = ids.map((n) => ({ updateId: 500 + n, message: { id: n, chat: { id: CHAT } } }))
  const call = { n: 1, at: NOW, by: 'api' as const, headers: [], status: 200 }
  const times = { createdAt: '', publishedAt: '', retiredAt: null, destroyedAt: null }
  const opened = { opens: true, opensUntil: null, lastOpenedAt: null }
  const counts = { openedMessages: 0, openedMedia: 0 }
  const key = { fingerprint: FINGERPRINT, ...times, ...opened, ...counts }
  const marks = { latched: true, sealed: true, refused: false }
  return {
    service: [
      {
        ...call,
        method: 'PUT',
        path: '/bot/v1/key',
        body: `{"fingerprint":"${FINGERPRINT}"}`,
        answer: '{}',
      },
      {
        ...call,
        method: 'GET',
        path: '/bot/v1/updates',
        body: '',
        answer: JSON.stringify({ ok: true, result: updates }),
      },
    ],
    wire: [],
    phones: [ids.map((n) => shown(n, 10 + n))],
    published: FINGERPRINT,
    keys: [{ ...key, state: 'active' }],
    chats: [{ id: CHAT, kind: 'private', personId: null, mode: 'protected', ...marks }],
    log: '{"msg":"listening"}',
    atRest: [],
    secrets: ['the-token'],
    outbox: [],
    journal: { ...JOURNAL },
    hasNews: false,
    readers: {},
    encryptedChats: [CHAT],
  }
}

export function shown(n: number, messageId: number) {
  const text = `kb000000000000000${n}`
  const about = { messageId, chatId: CHAT, fromId: 8, edited: false }
  return { ...about, text, verdict: 'verified' as const, signer: FINGERPRINT }
}

type Row = NonNullable<Evidence['outbox']>[number]

/** Other calls for later than those below, and what their rows and phones show otherwise. */
export interface OtherCall {
  later?: Partial<Later>
  row?: Partial<Row>
  seen?: { messageId?: number; at?: number; edited?: boolean }
}

/** Adds the nth call for later, which was given in its turn, and sent; null: no row, or shown nowhere. */
export function addCall(
  { history, evidence }: { history: History; evidence: Evidence },
  n: number,
  { later, row, seen }: { [Part in keyof OtherCall]: OtherCall[Part] | null } = {},
): void {
  const id = `later-${n}`
  const canary = `kb000000000000010${n}`
  const sent = { state: 'sent', sentId: 30 + n }
  const given = { askedAtMs: NOW + 10 * n, givenAtMs: NOW + 10 * n + 5, needsWord: false }
  const plain = { by: null, chatId: CHAT, edits: null, deliverAtMs: null }
  history.later.push({ ...plain, ...given, canary, id, seen: [sent], ...later })
  const nothing = { edits: null, client: null, code: null, replacedBy: null, mayBeSent: false }
  const entry = { id, chatId: CHAT, bytes: 9, approval: null, ...nothing }
  const times = { createdAt: '', deliverAt: '', settledAt: '' }
  const whole: Row = { ...entry, ...times, state: 'sent', messageId: 30 + n, ...row }
  if (row !== null) evidence.outbox?.push(whole)
  const one = { ...shown(n, 30 + n), text: canary, at: NOW + 100 + n, ...seen }
  if (seen !== null) evidence.phones = [...evidence.phones, [one]]
}

/** The breaches of the same run after something in its logs was made to differ. */
export function breachesAfter(spoil: (history: History, evidence: Evidence) => void): string {
  const { history, evidence } = kept()
  spoil(history, evidence)
  return check(history, evidence).breaches.join('\n')
}
