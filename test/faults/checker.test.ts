import { describe, expect, test } from 'vitest'
import { check, type Evidence } from './checker.ts'
import { newHistory, type Handled, type History } from './history.ts'

const CHAT = 9
const FINGERPRINT = 'ab'.repeat(20)
const NOW = 1_000_000

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

function handled(n: number, text: string | null, more: Partial<Handled> = {}): Handled {
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
    ...more,
  }
}

function evidenceOf(ids: number[]): Evidence {
  const updates = ids.map((n) => ({ updateId: 500 + n, message: { id: n, chat: { id: CHAT } } }))
  const call = { n: 1, at: NOW, by: 'api' as const, headers: [], status: 200 }
  const key = {
    fingerprint: FINGERPRINT,
    createdAt: '',
    publishedAt: '',
    retiredAt: null,
    destroyedAt: null,
    opensUntil: null,
    opens: true,
    openedMessages: 0,
    openedMedia: 0,
    lastOpenedAt: null,
  }
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
    chats: [
      {
        id: CHAT,
        kind: 'private',
        personId: null,
        mode: 'protected',
        latched: true,
        refused: false,
      },
    ],
    log: '{"msg":"listening"}',
    atRest: [],
    secrets: ['the-token'],
    encryptedChats: [CHAT],
  }
}

function shown(n: number, messageId: number) {
  const text = `kb000000000000000${n}`
  const about = { messageId, chatId: CHAT, fromId: 8, edited: false }
  return { ...about, text, verdict: 'verified' as const, signer: FINGERPRINT }
}

function breachesAfter(spoil: (history: History, evidence: Evidence) => void): string {
  const { history, evidence } = kept()
  spoil(history, evidence)
  return check(history, evidence).breaches.join('\n')
}

describe('the checker of a run with faults', () => {
  test('finds nothing where nothing is', () => {
    expect(breachesAfter(() => {})).toBe('')
  })

  test('takes it that an update comes twice', () => {
    expect(breachesAfter(({ handled: all }) => all.push(...all.slice(0, 1)))).toBe('')
  })

  test('sees a lost update', () => {
    expect(breachesAfter(({ handled: all }) => all.pop())).toMatch(/^I1: update 502 was due/)
  })

  test('sees updates that changed places', () => {
    expect(breachesAfter(({ handled: all }) => all.reverse())).toMatch(/^I1: update 501 was due/)
  })

  test('sees a message that the service never queued', () => {
    const spoilt = breachesAfter(({ written }) => {
      const [first] = written
      if (first !== undefined) written.push({ ...first, messageId: 3 })
    })
    expect(spoilt).toMatch(/^I1: message 3 of chat 9 never came out/)
  })

  test('sees words that are not what the person wrote', () => {
    const spoilt = breachesAfter(({ handled: all }) => {
      all[0] = handled(1, '/say kp0000000000000099')
    })
    expect(spoilt).toMatch(/^I1: update 501 .* has other words/)
  })

  test('sees a verdict that nothing explains, and takes one that trouble explains', () => {
    const spoil = (history: History): void => {
      history.handled[0] = handled(1, null, { verdict: 'locked', reason: 'store-unwritable' })
    }
    expect(breachesAfter(spoil)).toMatch(/^I6: update 501 .* got locked/)
    const explained = breachesAfter((history) => {
      spoil(history)
      history.episodes.push({ name: 'full-disk', fromMs: NOW - 1, toMs: NOW + 1 })
    })
    expect(explained).toBe('')
  })

  test('sees poison that was delivered as words', () => {
    const spoilt = breachesAfter(({ written }) => {
      Object.assign(written[0] ?? {}, { poison: 'flood' })
    })
    expect(spoilt).toMatch(/^I6: update 501 \(flood\) was delivered as words/)
  })

  test.each([
    ['as they are', (canary: string) => Buffer.from(canary)],
    ['in base64', (canary: string) => Buffer.from(Buffer.from(`x${canary}yz`).toString('base64'))],
    ['in hexadecimal', (canary: string) => Buffer.from(Buffer.from(canary).toString('hex'))],
  ])('sees sealed words on the wire, %s', (_name, spell) => {
    const spoilt = breachesAfter((_history, evidence) => {
      evidence.wire.push(spell('kb0000000000000001'))
    })
    expect(spoilt).toMatch(/^I2: sealed words in the bytes that went/)
  })

  test('sees words and secrets in a log and at rest', () => {
    const spoilt = breachesAfter((_history, evidence) => {
      evidence.log += ' kp0000000000000002 the-token'
      evidence.atRest.push(Buffer.from('kp0000000000000002 the-token'))
    })
    expect(spoilt.match(/^I7: .*$/gm)).toHaveLength(4)
  })

  test('sees a second key, and one that is not the published one', () => {
    const second = breachesAfter((_history, { keys }) => {
      keys?.push({ ...keys[0], fingerprint: 'cd'.repeat(20), state: 'pending' } as never)
    })
    expect(second).toMatch(/^I3: the sidecar holds 2 keys/)
    const other = breachesAfter((_history, evidence) => {
      evidence.published = 'cd'.repeat(20)
    })
    expect(other).toMatch(/^I3: the published key is not the active one/)
  })

  test('sees, where the key is replaced, one that came back, one that nobody holds, and a bad signature', () => {
    const put = (fingerprint: string) =>
      ({ method: 'PUT', path: '/bot/v1/key', body: `{"fingerprint":"${fingerprint}"}` }) as never
    const spoilt = breachesAfter((_history, evidence) => {
      const [first] = evidence.service
      const again = ['cd'.repeat(20), FINGERPRINT].map((one) => ({
        ...first,
        ...(put(one) as object),
      }))
      evidence.rotates = true
      evidence.service.push(...(again as never[]))
      Object.assign(evidence.phones[0]?.[0] ?? {}, { verdict: 'bad' })
    })
    expect(spoilt).toMatch(/^I3: a key was published again after another$/m)
    expect(spoilt).toMatch(/^I3: the key (cd)+ was published and is held by nobody$/m)
    expect(spoilt).toMatch(/^I8: message 11 of chat 9 is badly signed$/m)
  })

  test('forgives a signature by a clock that was moved, and no other', () => {
    const signedAt = (at: number) =>
      breachesAfter(({ episodes }, evidence) => {
        episodes.push({ name: 'clock', fromMs: NOW, toMs: NOW + 1000 })
        Object.assign(evidence, { rotates: true })
        Object.assign(evidence.phones[0]?.[0] ?? {}, { verdict: 'bad', at })
      })
    expect(signedAt(NOW + 500)).not.toMatch(/^I8/m)
    expect(signedAt(NOW - 1)).toMatch(/^I8: message 11 of chat 9 is badly signed$/m)
    expect(signedAt(NOW + 5000)).toMatch(/^I8: message 11 of chat 9 is badly signed$/m)
  })

  test('sees readable words for a chat that any sidecar had seen protected, and not those on their way', () => {
    const sent = (afterMs: number) =>
      breachesAfter((_history, evidence) => {
        const [first] = evidence.service
        const call = { method: 'POST', path: '/bot/v1/messages', at: NOW + afterMs }
        const body = `{"chatId":${CHAT},"text":"words"}`
        evidence.service.push({ ...first, ...call, body, answer: '{}' } as never)
      })
    expect(sent(3000)).toMatch(/^I2: readable words for chat 9, 3000 ms after/m)
    expect(sent(100)).not.toMatch(/^I2/m)
  })

  test('forgives a look of another sidecar that was asked for before', () => {
    const look = (askedAtMs: number) =>
      breachesAfter(({ remembered }) => {
        remembered.push({
          atMs: NOW + 50,
          askedAtMs,
          chats: [{ id: CHAT, kind: 'unknown', latched: false }],
        })
      })
    expect(look(NOW - 1)).not.toMatch(/^I5/m)
    expect(look(NOW + 1)).toMatch(/^I5: chat 9 lost its latch/m)
  })

  test('sees a send that became two messages, and one that became none', () => {
    const twice = breachesAfter((_history, evidence) => {
      evidence.phones = [[shown(1, 11), shown(1, 19), shown(2, 12)]]
    })
    expect(twice).toMatch(/^I4: send-1: 2 messages, 1 accepted/)
    const lost = breachesAfter((_history, evidence) => {
      evidence.phones = [[shown(1, 11)]]
    })
    expect(lost).toMatch(/^I4: send-2: 0 messages, 1 accepted/)
  })

  test('sees a latch and a kind that were forgotten', () => {
    const spoilt = breachesAfter((_history, evidence) => {
      evidence.chats = [
        { id: CHAT, kind: 'group', personId: null, mode: null, latched: false, refused: false },
      ]
    })
    expect(spoilt.match(/^I5: .*$/gm)).toHaveLength(2)
  })
})
