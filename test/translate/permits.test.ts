import { describe, expect, test } from 'vitest'
import { isOutbound, type Outbound } from '../../src/permit.ts'
import { permitReadable, permitSealed, type Rule } from '../../src/translate/guard.ts'
import { encryptedMessage } from './support.ts'

const target = { route: 'send', path: '/messages' } as const
const fields = { chatId: 5, text: 'words' }

describe('what the guard alone can make', () => {
  test('a rule that only looks like one lets no readable text out', () => {
    const looks = [
      { chatId: 5, body: 'readable' },
      Object.assign(Object.create(null) as object, { chatId: 5, body: 'readable' }),
      JSON.parse('{"chatId":5,"body":"readable","#judged":true}'),
      null,
      'readable',
    ]
    for (const fake of looks) {
      expect(() => permitReadable(fake as unknown as Rule, target, fields)).toThrow(
        expect.objectContaining({ code: 'postern_downgrade_refused' }),
      )
    }
  })

  test('what only looks like a permit is none, a copy of a real one included', () => {
    const real: Outbound = permitSealed(target, { chatId: 5 }, encryptedMessage())
    expect(isOutbound(real)).toBe(true)
    const copies = [
      Object.assign({}, real),
      Object.create(real) as unknown,
      { route: 'send', path: '/messages', body: '{}' },
      null,
      'send',
    ]
    for (const copy of copies) expect(isOutbound(copy)).toBe(false)
  })

  test('nothing but an encrypted message leaves as a sealed one, and never with a text beside it', () => {
    const armors = [
      'words',
      '-----BEGIN PGP MESSAGE-----\n\nd29yZHM=\n-----END PGP MESSAGE-----\n',
      `words\n${encryptedMessage()}`,
      `${encryptedMessage()}\nwords`,
      encryptedMessage().replace('MESSAGE', 'PUBLIC KEY BLOCK'),
    ]
    for (const armored of armors) {
      expect(() => permitSealed(target, { chatId: 5 }, armored)).toThrow(
        expect.objectContaining({ code: 'bad_request' }),
      )
    }
    expect(() => permitSealed(target, fields, encryptedMessage())).toThrow(
      expect.objectContaining({ code: 'bad_request' }),
    )
  })
})
