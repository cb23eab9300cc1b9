/** Each rule of the checker is broken once on purpose, and no rule is left out. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { addCall, breachesAfter, CHAT, FINGERPRINT, handled, NOW, shown } from './checker-scene.ts'
import type { OtherCall } from './checker-scene.ts'
import type { Evidence } from './checker.ts'
import { noteState, type Handled, type History, type Later } from './history.ts'
import type { Remembered, Trouble, Written } from './history.ts'

type Spoil = (history: History, evidence: Evidence) => void

const OTHER = 'cd'.repeat(20)
const SAID = '/say kp0000000000000001'
const first = <T>([one]: readonly T[]): T => {
  if (one === undefined) throw new Error('there is none')
  return one
}
const put = (...fingerprints: string[]): Spoil => {
  return (_history, { service }) => {
    const calls = fingerprints.map((one) => ({
      ...first(service),
      body: `{"fingerprint":"${one}"}`,
    }))
    service.push(...calls)
  }
}
const both =
  (...spoils: Spoil[]): Spoil =>
  (history, evidence) =>
    spoils.forEach((spoil) => spoil(history, evidence))
const rotates: Spoil = (_history, evidence) => void (evidence.rotates = true)

/** What the second message is, where it is the sealed bytes of the first one again. */
const copied: Partial<Written> = { canary: '', poison: 'copy', copyOf: 'kp0000000000000001' }

/** Something else of the first update that was handled. */
const firstUpdate =
  (more: Partial<Handled>): Spoil =>
  ({ handled: all }) =>
    Object.assign(first(all), more)
/** Another update that was handled. */
const oneMore =
  (...given: Parameters<typeof handled>): Spoil =>
  ({ handled: all }) =>
    void all.push(handled(...given))
/** Something else in the evidence. */
const found =
  (more: Partial<Evidence>): Spoil =>
  (_history, evidence) =>
    Object.assign(evidence, more)
const logged =
  (words: string): Spoil =>
  (_history, evidence) =>
    void (evidence.log += words)
const atRest =
  (words: string): Spoil =>
  (_history, evidence) =>
    void evidence.atRest.push(Buffer.from(words))
const firstChat =
  (more: object): Spoil =>
  (_history, { chats }) =>
    Object.assign(first(chats ?? []), more)

/** A call for later; null: without a row, or shown nowhere. */
const call =
  (n: number, more?: { [Part in keyof OtherCall]: OtherCall[Part] | null }): Spoil =>
  (history, evidence) =>
    addCall({ history, evidence }, n, more)
/** What was asked about the first call, and answered. */
const answered =
  (...isApproved: boolean[]): Spoil =>
  (history) => {
    const canary = 'kb0000000000000101'
    history.asked.push({ canary, code: 'AB23', messageId: 50 })
    for (const [n, one] of isApproved.entries()) {
      const where = { chatId: CHAT, code: 'AB23', quotes: 50, messageId: 60 + n }
      history.words.push({ ...where, isApproved: one, isLate: false, askedAtMs: NOW + 50 + n })
      // the checker of updates knows this one as delivered already
      history.handled.push(handled(60 + n, null, { updateId: 501 }))
    }
  }
const refusedWith = (code: string): Spoil =>
  call(1, { later: { seen: [] }, row: { state: 'refused', code }, seen: null })
const DOWNGRADED = refusedWith('postern_downgrade_refused')
const claimed =
  (chatId: number, toMs: number): Spoil =>
  ({ claims }) =>
    void claims.push({ chatId, isApprovers: false, toMs })
const NEEDS_WORD: OtherCall = { later: { needsWord: true } }
const polls =
  (...given: { offset: number; updates: [number, number][] }[]): Spoil =>
  (history, evidence) => {
    evidence.readers = { archive: new Set([CHAT]) }
    for (const { offset, updates } of given) {
      const all = updates.map(([updateId, messageId]) => ({ updateId, chatId: CHAT, messageId }))
      history.polled.push({ client: 'archive', sidecar: 1, offset, updates: all })
    }
  }
const GOT: { offset: number; updates: [number, number][] } = {
  offset: 0,
  updates: [
    [1, 1],
    [2, 2],
  ],
}

const PERSON = 'kp0000000000000001'
const WITHHELD = { text: null, verdict: 'plaintext-in-protected', withheld: 'no' }
const READABLE = { method: 'POST', path: '/bot/v1/messages', at: NOW + 5000 } as const

/** The beginning of what a rule says, as it stands in the source, and what breaks it. */
const RULES: [string, Spoil][] = [
  ['I1: update ${updateId} was due', ({ handled: all }) => void all.pop()],
  ['I1: update ${updateId} carries another message', firstUpdate({ chatId: 77 })],
  ['I1: updates were handled that nobody sent', oneMore(3, null)],
  [
    'I1: message ${messageId} of chat ${chatId} never came out',
    ({ written }) => void written.push({ ...first(written), messageId: 3 }),
  ],
  ['I1: ${where} has other words', firstUpdate({ text: 'no' })],
  ['I1: ${where} lost its words', firstUpdate(WITHHELD)],
  [
    'I1: update ${updateId} counted as replayed when it came again',
    oneMore(1, null, { verdict: 'replayed' }),
  ],
  [
    'I2: sealed words in the bytes that went to the service',
    found({ wire: [Buffer.from('kb0000000000000001')] }),
  ],
  [
    'I2: sealed words in what the service saw',
    (_history, { service }) => Object.assign(first(service), { body: PERSON }),
  ],
  [
    'I2: readable words for chat ${chatId}',
    (_history, { service }) =>
      void service.push({
        ...first(service),
        ...READABLE,
        body: `{"chatId":${CHAT},"text":"words"}`,
      }),
  ],
  ['I3: the sidecar could not be asked', found({ keys: null })],
  ['I3: a key was published again after another', both(rotates, put(OTHER, FINGERPRINT))],
  ['I3: the key ${one} was published and is held by nobody', both(rotates, put(OTHER))],
  ['I3: ${different.size} different keys were published', put(OTHER)],
  [
    'I3: the sidecar holds ${keys.length} keys',
    (_history, { keys }) =>
      void keys?.push({ ...first(keys), fingerprint: OTHER, state: 'retired' }),
  ],
  ['I3: the published key is not the active one', found({ published: OTHER })],
  [
    'I4: ${sendId} was accepted as two messages',
    ({ said }) => void said.get('send-1')?.accepted.push(19),
  ],
  ['I4: ${sendId}: ${messages.size} messages', found({ phones: [[shown(1, 11)]] })],
  [
    'I4: an edit of ${sendId} was accepted',
    ({ said }) => Object.assign(said.get('send-1') ?? {}, { isEdited: true }),
  ],
  ['I5: chat ${id} lost its latch', firstChat({ latched: false })],
  ['I5: chat ${id} is private no more', firstChat({ kind: 'group' })],
  ['I5: chat ${id} was never known to be protected', found({ encryptedChats: [CHAT, 10] })],
  [
    'I6: ${where} was delivered as words',
    ({ written }) => Object.assign(first(written), { poison: 'flood' }),
  ],
  [
    'I6: ${where} got ${one.verdict}',
    firstUpdate({ text: null, verdict: 'locked', reason: 'store-unwritable' }),
  ],
  [
    'I6: update ${one.updateId} counts as confirmed and was not',
    firstUpdate({ text: null, verdict: 'replayed', reason: 'confirmed-before' }),
  ],
  ['I7: somebody’s words in the log', logged(PERSON)],
  ['I7: somebody’s words in the data directory', atRest(PERSON)],
  ['I7: a secret in the log', logged('the-token')],
  ['I7: a secret in the data directory', atRest('the-token')],
  ['I7: an armored block in the log', logged('BEGIN PGP')],
  [
    'I8: message ${messageId} of chat ${chatId} is badly signed',
    both(rotates, (_h, { phones }) => Object.assign(first(first(phones)), { verdict: 'bad' })),
  ],
  [
    'I9: update ${updateId} was confirmed, and the bot never got its words',
    both(
      firstUpdate({ text: null, verdict: 'locked' }),
      (history) => void (history.confirmedBelow = 502),
    ),
  ],
  [
    'I10: update ${all[0]?.updateId} ${what}',
    oneMore(1, SAID, { verdict: 'unsigned', sidecar: 2 }),
  ],
  [
    'I11: update ${updateId} came with its words again',
    oneMore(1, SAID, { confirmedBelow: 502, sidecar: 2 }),
  ],
  [
    'I11: the same sealed words came with the updates',
    ({ written }) => Object.assign(written[1] ?? {}, copied),
  ],
  [
    'I12: the file of message ${messageId} of chat ${chatId} has other bytes',
    ({ written, fetched }) => {
      Object.assign(first(written), { file: Buffer.from('file') })
      fetched.push({ chatId: CHAT, messageId: 1, bytes: Buffer.from('fill') })
    },
  ],
  ['I13: ready ${', (history) => void (history.readyAfterMs = 10_001)],
  ['I13: the bot heard everybody ${', (history) => void (history.heardAfterMs = 45_001)],
  ['I14: ${id} was given, and is not in the outbox', call(1, { row: null, seen: null })],
  ['I14: ${id} is ${state} still', call(1, { row: { state: 'waiting' }, seen: null })],
  ['I14: ${id} is ${state} (${code}), and the service has', call(1, { seen: null })],
  ['I14: ${id} was ${seen', call(1, { row: { state: 'refused' } })],
  ['I14: ${id} left before its time', call(1, { later: { deliverAtMs: NOW + 9000 } })],
  ['I14: the bot was not told that ${id} is ${state}', both(call(1), found({ hasNews: true }))],
  ['I14: ${id} was refused with ${code}', refusedWith('internal')],
  [
    'I15: ${one.later.id} left after ${overtaken.later.id}',
    both(call(1, { row: { messageId: 40 }, seen: { messageId: 40 } }), call(2)),
  ],
  [
    'I15: edit ${later.id} was made after one that was given later',
    both(
      call(2, { later: { edits: 11 }, seen: { messageId: 11, edited: true } }),
      call(1, { later: { edits: 11 }, seen: { messageId: 11, edited: true } }),
      (_history, { phones }) => {
        const edits = phones.slice(1).flat()
        Object.assign(phones, [phones[0], edits, []])
      },
    ),
  ],
  ['I16: a word on ${id} was asked for', both(call(1, NEEDS_WORD), answered(true), answered(true))],
  ['I16: ${id} left without a person’s word', both(call(1, NEEDS_WORD), answered(false))],
  [
    'I16: a word on ${id} was given, and did not count',
    both(call(1, { ...NEEDS_WORD, row: { state: 'asked' }, seen: null }), answered(true)),
  ],
  ['I17: ${client} got ${one} from sidecar', polls(GOT, { offset: 2, updates: [[1, 1]] })],
  [
    'I17: ${client} got ${numbers[gap]} after',
    polls({
      offset: 0,
      updates: [
        [1, 1],
        [3, 2],
      ],
    }),
  ],
  [
    'I17: ${client} confirmed ${name}, and got it again',
    polls(GOT, { offset: 3, updates: [[3, 2]] }),
  ],
  ['I17: ${client} was to get', polls({ offset: 0, updates: [[1, 1]] })],
  ['I18: the sidecar could not be asked', found({ journal: null })],
  [
    'I18: entry ${fault.entry} of the journal',
    (_history, { journal }) => Object.assign(journal ?? {}, { fault: { entry: 1, what: '' } }),
  ],
  [
    'I18: ${heads.unsigned} of',
    (_history, { journal }) => Object.assign(journal ?? {}, { lastSigned: null }),
  ],
]

/** A pattern of what a rule says, whatever stands in its gaps. */
const patternOf = (rule: string): RegExp =>
  new RegExp(`^${rule.replaceAll(/[()]/g, '\\$&').replaceAll(/\$\{[^}]*\}?/g, '.*')}`, 'm')

test.each(RULES)('the checker of fault runs reports "%s"', (rule, spoil) => {
  expect(breachesAfter(spoil)).toMatch(patternOf(rule))
})

test('`RULES` breaks every rule of the checker of fault runs once', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => /^check(er|-.*)\.ts$/.test(name))
  const sources = files.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'))
  const all = sources.flatMap((source) => [...source.matchAll(/['`](I\d+: [^'`]*)/g)])
  const left = all.filter(([, said = '']) => !RULES.some(([rule]) => said.startsWith(rule)))
  expect(left.map(([, said]) => said)).toEqual([])
  expect(all.length).toBe(RULES.length)
})

const replayedAt =
  (sidecar: number): Spoil =>
  (history) => {
    Object.assign(history.written[1] ?? {}, copied)
    history.handled[1] = handled(2, null, { verdict: 'replayed' })
    history.handled.push({ ...handled(2, null, { verdict: 'replayed' }), sidecar })
  }
/** The first update got a verdict without words while something was wrong, or later. */
const inTrouble =
  (name: Trouble, atMs = NOW): Spoil =>
  ({ handled: all, episodes }) => {
    all[0] = handled(1, null, { verdict: 'signer-unavailable', atMs })
    episodes.push({ name, fromMs: NOW - 1, toMs: NOW + 1 })
  }
/** A sidecar polled then, and got the first update. */
const polledAt =
  (at: number): Spoil =>
  (_history, { service }) =>
    void service.push({ ...(service.at(-1) ?? first(service)), at })
/** A call that was given up for its time, and may have been made, while a clock was far off. */
const expired = (mayBeSent: boolean): Spoil =>
  both(
    call(1, {
      later: { seen: [] },
      row: { state: 'refused', code: 'postern_outbox_expired', mayBeSent },
    }),
    (history) => {
      history.hasFarClocks = true
      history.episodes.push({ name: 'clock', fromMs: NOW, toMs: NOW + 99 })
    },
  )
const lookAt = (atMs: number, latched: boolean, by?: string): Remembered => ({
  atMs,
  chats: [{ id: 77, kind: 'group', latched }],
  ...(by !== undefined && { by }),
})
const looks =
  (...all: Remembered[]): Spoil =>
  ({ remembered }) =>
    void remembered.push(...all)
const sightedAt =
  (chatId: number, atMs: number): Spoil =>
  ({ sightings }) =>
    void sightings.push({ chatId, askedAtMs: atMs, atMs })
/** Readable words for a chat that is protected, and that an operator let be readable meanwhile. */
const sentAt =
  (at: number): Spoil =>
  ({ allowances }, { service }) => {
    allowances.push({ chatId: CHAT, fromMs: NOW + 3000, toMs: NOW + 3100 })
    service.push({ ...first(service), ...READABLE, at, body: `{"chatId":${CHAT},"text":"words"}` })
  }
const signedAt =
  (at: number): Spoil =>
  ({ episodes }, evidence) => {
    episodes.push({ name: 'clock', fromMs: NOW, toMs: NOW + 1000 })
    evidence.rotates = true
    Object.assign(first(first(evidence.phones)), { verdict: 'bad', at })
  }
/** Armor as text, in a chat about whose mode the service lies. */
const armorIn =
  (chatId: number, reason = 'readable-chat'): Spoil =>
  ({ episodes, allowances, handled: all }) => {
    const times = { fromMs: NOW - 10, toMs: NOW + 10 }
    episodes.push({ name: 'allowed', ...times })
    allowances.push({ chatId, ...times })
    Object.assign(first(all), { verdict: 'unsigned', reason, text: '-----BEGIN PGP' })
  }
const onWire =
  (words: string): Spoil =>
  (_history, { wire }) =>
    void wire.push(Buffer.from(words))
const CANARY = 'kb0000000000000001'
const [LIFE_1, LIFE_2] = ['sidecar 0, life 1', 'sidecar 0, life 2']

test.each<[string, Spoil]>([
  ['a run without faults', () => {}],
  ['an update that is delivered twice', ({ handled: all }) => void all.push(first(all))],
  ['a copy that every sidecar refuses as replayed', replayedAt(2)],
  [
    'a confirmed update that is delivered again without its words',
    oneMore(1, null, { verdict: 'replayed', reason: 'confirmed-before', confirmedBelow: 502 }),
  ],
  ['a verdict that an error of the service explains', inTrouble('errors')],
  ['such a verdict in a batch that is answered later', inTrouble('errors', NOW + 9000)],
  ['a call that may have been made when a moved clock ended its time', expired(true)],
  [
    'the loss of a latch that only a killed sidecar had in memory',
    looks(lookAt(NOW + 1, true, LIFE_1), lookAt(NOW + 2, false, LIFE_2)),
  ],
  ['readable words that an operator has allowed', sentAt(NOW + 9000)],
  ['a signature dated by a clock that was moved', signedAt(NOW + 500)],
  ['armor as text in a chat that the service calls readable', armorIn(CHAT)],
  [
    'an edit of unknown fate, and calls in their order',
    both(call(1), call(2), call(3, { later: { givenAtMs: null }, row: null, seen: null })),
  ],
  ['a call that a person approved', both(call(1, NEEDS_WORD), answered(true))],
  [
    'a call that a person refused first, and approved then',
    both(
      call(1, {
        later: { needsWord: true, seen: [{ state: 'asked', sentId: null }] },
        row: { state: 'refused', code: 'postern_approval_refused' },
        seen: null,
      }),
      answered(false, true),
    ),
  ],
  ['a client that is given again what it had not confirmed', polls(GOT, GOT)],
  ['a refusal of a service that called the chat open', both(DOWNGRADED, claimed(CHAT, NOW + 11))],
])('the checker of fault runs accepts %s', (_what, spoil) => {
  expect(breachesAfter(spoil)).toBe('')
})

test.each<[string, Spoil, RegExp]>([
  ['updates in another order', ({ handled: all }) => void all.reverse(), /^I1: update 501 was due/],
  ['a full disk as the only explanation of a verdict', inTrouble('full-disk'), /^I6: update 501/],
  ['a moved clock as the only explanation of a verdict', inTrouble('clock'), /^I6: update 501/],
  ['sealed words in base64', onWire(Buffer.from(`x${CANARY}yz`).toString('base64')), /^I2: sealed/],
  ['sealed words in hexadecimal', onWire(Buffer.from(CANARY).toString('hex')), /^I2: sealed/],
  [
    'a copy that one sidecar alone refuses as replayed',
    both(replayedAt(2), ({ handled: all }) =>
      Object.assign(all.at(-1) ?? {}, { text: SAID, verdict: 'verified' }),
    ),
    /^I10: update 502 is replayed for one sidecar alone/m,
  ],
  [
    'the loss of a latch within one life of a sidecar',
    looks(lookAt(NOW + 1, true, LIFE_1), lookAt(NOW + 2, false, LIFE_1)),
    /^I5: chat 77 lost its latch$/,
  ],
  [
    'a latch shown to the bot and missing in the store',
    sightedAt(77, NOW + 1),
    /^I5: chat 77 lost/,
  ],
  ['readable words from before an allowance', sentAt(NOW + 2900), /^I2: readable words/m],
  [
    'readable words after a chat was protected again',
    both(sightedAt(CHAT, NOW + 5000), sentAt(NOW + 9000)),
    /^I2: readable words/m,
  ],
  [
    'a bad signature of a correct clock',
    signedAt(NOW + 5000),
    /^I8: message 11 of chat 9 is badly/m,
  ],
  ['armor as text in another chat', armorIn(77), /^I6: update 501/m],
  ['armor as text for another reason', armorIn(CHAT, 'not-for-all'), /^I6: update 501/m],
  [
    'an error of the service before the last reading of an update',
    both(inTrouble('errors', NOW + 9000), polledAt(NOW + 5000)),
    /^I6: update 501/m,
  ],
  [
    'an error of the service before an update was written',
    both(inTrouble('errors', NOW + 9000), ({ written }) =>
      Object.assign(first(written), { atMs: NOW + 5000 }),
    ),
    /^I6: update 501/m,
  ],
  [
    'a call that is refused and was made',
    expired(false),
    /^I14: later-1 is refused \(postern_outbox_expired\), and the service has 1/m,
  ],
  [
    'a refusal of a service that called another chat open, or this one before',
    both(DOWNGRADED, claimed(77, NOW + 11), claimed(CHAT, NOW + 9)),
    /^I14: later-1 was refused with postern_downgrade_refused/m,
  ],
  [
    'a call that was made twice',
    both(call(1), call(1, { seen: { messageId: 32 } })),
    /^I14: later-1 is sent .* has 2/m,
  ],
  [
    'a call that left before the word',
    both(call(1, { ...NEEDS_WORD, seen: { at: NOW + 1 } }), answered(true)),
    /^I16: later-1 left/m,
  ],
])('the checker of fault runs reports %s', (_what, spoil, breach) => {
  expect(breachesAfter(spoil)).toMatch(breach)
})

test('`noteState` keeps the news of a call after a later answer about the same state', () => {
  const seen: Later['seen'] = [{ state: 'sent', sentId: 7, isNews: true }]
  noteState({ seen } as Later, { state: 'sent', sentId: 7 })
  expect(seen).toEqual([{ state: 'sent', sentId: 7, isNews: true }])
})
