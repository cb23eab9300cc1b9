/** Each rule of the checker is broken once on purpose, and no rule is left out. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { breachesAfter, CHAT, FINGERPRINT, handled, NOW, shown } from './checker-scene.ts'
import type { Evidence } from './checker.ts'
import type { Handled, History, Written } from './history.ts'

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
]

/** A pattern of what a rule says, whatever stands in its gaps. */
const patternOf = (rule: string): RegExp =>
  new RegExp(`^${rule.replaceAll(/[()]/g, '\\$&').replaceAll(/\$\{[^}]*\}?/g, '.*')}`, 'm')

describe('the checker', () => {
  test.each(RULES)('goes red for: %s', (rule, spoil) => {
    expect(breachesAfter(spoil)).toMatch(patternOf(rule))
  })

  test('has no rule beside these', () => {
    const names = ['checker', 'check-updates', 'check-deliveries', 'check-memory', 'check-secrecy']
    const files = names.map((name) => `${name}.ts`)
    const sources = files.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'))
    const all = sources.flatMap((source) => [...source.matchAll(/['`](I\d+: [^'`]*)/g)])
    const left = all.filter(([, said = '']) => !RULES.some(([rule]) => said.startsWith(rule)))
    expect(left.map(([, said]) => said)).toEqual([])
    expect(all.length).toBe(RULES.length)
  })

  const replayedAt = (sidecar: number): Spoil => {
    return (history) => {
      Object.assign(history.written[1] ?? {}, copied)
      history.handled[1] = handled(2, null, { verdict: 'replayed' })
      history.handled.push({ ...handled(2, null, { verdict: 'replayed' }), sidecar })
    }
  }

  test('takes it that a copy is refused as replayed by every sidecar', () => {
    expect(breachesAfter(replayedAt(2))).toBe('')
  })

  test('sees a copy that one sidecar refuses as replayed and another one delivers', () => {
    const spoilt = breachesAfter((history, evidence) => {
      replayedAt(2)(history, evidence)
      Object.assign(history.handled.at(-1) ?? {}, { text: SAID, verdict: 'verified' })
    })
    expect(spoilt).toMatch(/^I10: update 502 is replayed for one sidecar alone/m)
  })

  test('takes it that a confirmed update comes again without its words', () => {
    const again = { verdict: 'replayed', reason: 'confirmed-before', confirmedBelow: 502 }
    expect(breachesAfter(({ handled: all }) => all.push(handled(1, null, again)))).toBe('')
  })

  test('takes it that a readable message of an open chat comes again, which nobody judged', () => {
    const again = { verdict: null, confirmedBelow: 502, sidecar: 2 }
    const spoilt = breachesAfter(({ handled: all }) => all.push(handled(1, SAID, again)))
    expect(spoilt).not.toMatch(/^I11/m)
  })

  test('takes what an operator let in again, until it is seen protected again', () => {
    const sent = (o: { atMs: number; seenMs?: number }): string =>
      breachesAfter((history, { service }) => {
        const [fromMs, toMs] = [NOW + 3000, NOW + 3100]
        history.allowances.push({ chatId: CHAT, fromMs, toMs })
        const { seenMs } = o
        if (seenMs !== undefined) {
          history.sightings.push({ chatId: CHAT, askedAtMs: seenMs, atMs: seenMs })
        }
        const about = { method: 'POST', path: '/bot/v1/messages', at: o.atMs } as const
        service.push({ ...first(service), ...about, body: `{"chatId":${CHAT},"text":"words"}` })
      })
    expect(sent({ atMs: NOW + 2900 })).toMatch(/^I2: readable words/m)
    expect(sent({ atMs: NOW + 9000 })).not.toMatch(/^I2/m)
    expect(sent({ atMs: NOW + 9000, seenMs: NOW + 8000 })).not.toMatch(/^I2/m)
    expect(sent({ atMs: NOW + 9000, seenMs: NOW + 5000 })).toMatch(/^I2: readable words/m)
  })

  const lookAt = (atMs: number, latched: boolean, by?: string) => ({
    atMs,
    chats: [{ id: 77, kind: 'group', latched }],
    ...(by !== undefined && { by }),
  })

  test('takes it that a latch which one sidecar had in memory alone is gone with it', () => {
    const spoilt = breachesAfter(({ remembered }) => {
      remembered.push(lookAt(NOW + 1, true, 'sidecar 0, life 1'))
      remembered.push(lookAt(NOW + 2, false, 'sidecar 0, life 2'))
      remembered.push(lookAt(NOW + 2, false, 'sidecar 1, life 1'))
    })
    expect(spoilt).toBe('')
  })

  test('sees that a sidecar forgets a latch while it lives', () => {
    const spoilt = breachesAfter(({ remembered }) => {
      remembered.push(lookAt(NOW + 1, true, 'sidecar 0, life 1'))
      remembered.push(lookAt(NOW + 2, false, 'sidecar 0, life 1'))
    })
    expect(spoilt).toBe('I5: chat 77 lost its latch')
  })

  test('takes it that an operator lifts a latch while a look at it is under way', () => {
    const lifted = (liftedMs: number): string =>
      breachesAfter(({ remembered, allowances }) => {
        const by = 'sidecar 0, life 1'
        remembered.push({ ...lookAt(NOW + 9000, true, by), askedAtMs: NOW + 3000 })
        remembered.push({ ...lookAt(NOW + 20_000, false, by), askedAtMs: NOW + 15_000 })
        allowances.push({ chatId: 77, fromMs: liftedMs, toMs: liftedMs })
      })
    expect(lifted(NOW + 3100)).toBe('')
    expect(lifted(NOW + 500)).toBe('I5: chat 77 lost its latch')
  })

  test('takes it that a file comes sealed where its words came sealed as text, and no other bytes', () => {
    const fetchedAs = (reason: string | null, bytes: Buffer): string =>
      breachesAfter(({ written, fetched, handled: all }) => {
        Object.assign(first(written), { file: Buffer.from('file') })
        fetched.push({ chatId: CHAT, messageId: 1, bytes })
        all.push(handled(1, SAID, { reason }))
      })
    const sealed = Buffer.from([0xc1, 0x5e, 3])
    expect(fetchedAs('readable-chat', sealed)).not.toMatch(/^I12/m)
    expect(fetchedAs(null, sealed)).toMatch(/^I12: the file of message 1/m)
    expect(fetchedAs('readable-chat', Buffer.from('fill'))).toMatch(/^I12/m)
  })

  test('sees that the store has no latch which the bot was told of', () => {
    const spoilt = breachesAfter(({ sightings }) => {
      sightings.push({ chatId: 77, askedAtMs: NOW + 1, atMs: NOW + 2 })
    })
    expect(spoilt).toBe('I5: chat 77 lost its latch')
  })

  const inAllowed = (reason: string, chatId: number): string =>
    breachesAfter((history) => {
      const times = { fromMs: NOW - 10, toMs: NOW + 10 }
      history.episodes.push({ name: 'allowed', ...times })
      history.allowances.push({ chatId, ...times })
      const [verdict, text] = ['unsigned', '-----BEGIN PGP']
      Object.assign(first(history.handled), { verdict, reason, text })
    })

  test('excuses armor as text only in the chat about whose mode the service lies', () => {
    expect(inAllowed('readable-chat', CHAT)).toBe('')
    expect(inAllowed('readable-chat', 77)).toMatch(/^I6: update 501/m)
    expect(inAllowed('not-for-all', CHAT)).toMatch(/^I6: update 501/m)
  })
})
