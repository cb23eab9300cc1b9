import { describe, expect, test } from 'vitest'
import { NoResponseError, Refusal } from '../../../src/errors.ts'
import { judgeAudience } from '../../../src/kernel/opening/audience.ts'
import type { ExamineParts } from '../../../src/kernel/opening/sender-rules.ts'
import type { Judged } from '../../../src/kernel/opening/signatures.ts'
import { ALICE, BOB, BOT, keyId, primary, scene } from './audience-scene.ts'

describe('the audience of a message in a private chat', () => {
  function withAlice() {
    const made = scene()
    made.all.isPrivate = true
    return made
  }

  test.each([
    [['e', 'a'], false],
    [['e'], false],
    [['e', 'f'], false],
    [['e', 'b'], true],
  ])('a message in a private chat sealed to %j is for another chat: %s', async (to, isOther) => {
    const { ask, asked } = withAlice()
    expect(await ask(to)).toBe(isOther)
    expect(asked.keyList).not.toHaveBeenCalled()
  })

  test('a message in a private chat with an anonymous recipient is not judged by its recipients', async () => {
    expect(await withAlice().ask(['b'], { hasUnnamed: true })).toBe(false)
  })

  test('the bot’s own message in a private chat is for its person alone', async () => {
    const { all, ask } = withAlice()
    expect(await ask(['a'], { fromId: BOT })).toBe(false)
    expect(await ask(['b'], { fromId: BOT })).toBe(true)
    all.personId = null
    expect(await ask(['a'], { fromId: BOT })).toBe(true)
  })

  test('a message in a private chat is judged again by a certificate that is requested anew', async () => {
    const { all, ask, asked } = withAlice()
    all.mayAskAgain = true
    asked.signer.mockImplementation(() => {
      all.owners.set(keyId('b'), new Set([BOB, ALICE]))
      return Promise.resolve(all.signer)
    })
    expect(await ask(['b'])).toBe(false)
    expect(asked.signer.mock.calls).toEqual([[ALICE, 50, 7]])
    expect(asked.askedInVain.mock.calls).toEqual([[ALICE, 50]])
  })

  test('the certificate of a private chat’s person is not requested twice in vain', async () => {
    const { all, ask, asked } = withAlice()
    all.mayAskAgain = true
    expect(await ask(['b'], { fromId: BOT })).toBe(true)
    expect(asked.signer.mock.calls).toEqual([[ALICE, 50, 7]])
    all.mayAskAgain = false
    expect(await ask(['b'])).toBe(true)
    expect(asked.signer).toHaveBeenCalledTimes(1)
  })
})

describe('the audience of a judged message', () => {
  const recipients = { keyIds: Uint8Array.from(Buffer.from(keyId('e'), 'hex')), hasUnnamed: false }
  const place = { chatId: 50, fromId: ALICE, receivedAtMs: 7 }
  const opened = {
    recipients,
    signatures: [
      { digest: 'first', intended: [primary('b')] },
      { digest: 'second', intended: [primary('a')] },
    ],
    signed: {},
  } as never
  const judge = (judged: Judged, { parts }: ReturnType<typeof scene>) =>
    judgeAudience(judged, opened, place, {
      ...parts,
      audience: 'check',
    } as unknown as ExamineParts)

  test.each(['verified', 'unsigned'] as const)(
    'a message judged as %s may be for another chat',
    async (verdict) => {
      const judged = { verdict }
      expect(await judge(judged, scene())).toEqual({ judged, isForOtherChat: true })
    },
  )

  test('the audience is judged by the intended recipients of the valid signature', async () => {
    const one = scene()
    const withUnnamed = { ...(opened as object), recipients: { ...recipients, hasUnnamed: true } }
    const parts = { ...one.parts, audience: 'check' } as unknown as ExamineParts
    for (const [signatureDigest, isForOther] of [
      ['first', false],
      ['second', true],
    ] as const) {
      const judged = { verdict: 'verified', signatureDigest } as const
      const result = await judgeAudience(judged, withUnnamed as never, place, parts)
      expect(result.isForOtherChat).toBe(isForOther)
    }
  })

  test('the audience has no verdict when the store fails', async () => {
    const one = scene()
    const unwritable = new Refusal('postern_store_unwritable')
    const keyList = () => Promise.reject(unwritable)
    Object.assign(one.parts.directory, { keyList })
    await expect(judge({ verdict: 'verified' }, one)).rejects.toBe(unwritable)
  })

  test.each([
    [new NoResponseError('postern_upstream_timeout'), 'failed'],
    [new Refusal('postern_route_refused'), undefined],
  ])(
    'a message is withheld while the key list is unavailable: %s',
    async (error, transientError) => {
      const one = scene()
      one.asked.keyList.mockRejectedValue(error)
      const { keyList } = one.asked
      Object.assign(one.parts.directory, { keyList })
      expect(await judge({ verdict: 'verified' }, one)).toEqual({
        judged: {
          verdict: 'signer-unavailable',
          reason: 'audience-unavailable',
          ...(transientError !== undefined && { transientError }),
        },
        isForOtherChat: false,
      })
    },
  )
})
