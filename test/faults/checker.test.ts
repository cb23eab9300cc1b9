import { describe, expect, test } from 'vitest'
import { breachesAfter, CHAT, handled, NOW, shown } from './checker-scene.ts'
import type { History } from './history.ts'

describe('the checker of a run with faults', () => {
  test('finds nothing where nothing is', () => {
    expect(breachesAfter(() => {})).toBe('')
  })

  test('takes it that an update comes twice', () => {
    expect(breachesAfter(({ handled: all }) => all.push(...all.slice(0, 1)))).toBe('')
  })

  test('sees updates that changed places', () => {
    expect(breachesAfter(({ handled: all }) => all.reverse())).toMatch(/^I1: update 501 was due/)
  })

  test('sees a verdict that nothing explains, and takes one that trouble explains', () => {
    const spoil = (history: History): void => {
      history.handled[0] = handled(1, null, { verdict: 'locked', reason: 'store-unwritable' })
    }
    expect(breachesAfter(spoil)).toMatch(/^I6: update 501 .* got locked/)
    const explained = breachesAfter((history) => {
      history.handled[0] = handled(1, null, { verdict: 'signer-unavailable' })
      history.episodes.push({ name: 'errors', fromMs: NOW - 1, toMs: NOW + 1 })
    })
    expect(explained).toBe('')
  })

  test.each(['full-disk', 'clock', 'database-full', 'stopped', 'row-locked'] as const)(
    'takes no trouble of our own (%s) for an explanation of a verdict',
    (name) => {
      const spoilt = breachesAfter((history) => {
        history.handled[0] = handled(1, null, { verdict: 'signer-unavailable' })
        history.episodes.push({ name, fromMs: NOW - 1, toMs: NOW + 1 })
      })
      expect(spoilt).toMatch(/^I6: update 501 .* got signer-unavailable/)
    },
  )

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
})
