import { describe, expect, test } from 'vitest'
import { useFakeTime } from '../../support/fake-time.ts'
import type { Person } from '../../../src/kernel/people/person.ts'
import {
  ALICE,
  ALICES,
  BOB,
  BOBS,
  BOT,
  CAROL,
  MALLORY,
  keyId,
  listOf,
  listing,
  person,
  primary,
  scene,
  subkey,
} from './audience-scene.ts'

useFakeTime({ toFake: ['performance'] })

describe('a message in a group', () => {
  test('is for it when somebody of the group is among the recipients', async () => {
    const { ask, asked } = scene()
    expect(await ask(['e', 'a', 'b'])).toBe(false)
    expect(await ask(['b'])).toBe(false)
    expect(await ask(['c', 'b'])).toBe(false)
    expect(asked.keyList.mock.calls[0]).toEqual([50, performance.now() - 600_000])
  })

  test.each([[['e', 'a']], [['e']], [[]], [['e', 'a', 'c']]])(
    'is for another chat when it is sealed to %j, none of whom is of the group',
    async (to) => {
      expect(await scene().ask(to)).toBe(true)
    },
  )

  test('is not judged where a recipient is nobody’s known', async () => {
    expect(await scene().ask(['e', 'f'])).toBe(false)
  })

  test('is not judged where a recipient is not named', async () => {
    const { ask, asked } = scene()
    expect(await ask(['e'], { hasUnnamed: true })).toBe(false)
    expect(asked.keyList).toHaveBeenCalledTimes(1)
  })

  test('is not judged where that is switched off, or nobody is said to have sent it', async () => {
    const { all, ask } = scene()
    expect(await ask(['e'], { fromId: null })).toBe(false)
    all.audience = 'off'
    expect(await ask(['e'])).toBe(false)
  })

  test('is for it when nobody else could read it', async () => {
    const { all, ask } = scene()
    for (const bob of [
      [],
      [person(BOB, 'b', { unusable: 'expired' as Person['unusable'] })],
      [person(BOB, 'a')],
      [person(BOB, 'd')],
      [person(BOT, 'b')],
    ]) {
      all.list = listOf([ALICES, ...bob])
      expect(await ask(['e', 'a'])).toBe(false)
    }
    all.list = listOf([], 1000)
    expect(await ask(['e', 'a']), 'of a list that is too long nobody was judged').toBe(true)
  })

  test('is for it when a recipient was seen with somebody of the group', async () => {
    const { all, ask } = scene()
    all.owners.set(keyId('c'), new Set([CAROL, BOB]))
    expect(await ask(['e', 'c'])).toBe(false)
    all.owners.set(keyId('c'), new Set([CAROL, ALICE, BOB]))
    expect(await ask(['e', 'c']), 'a key of the sender’s is no reader of the group').toBe(true)
  })

  test('is for another chat when who else reads lists the sender’s or the bot’s subkey, beside her own or alone', async () => {
    const { all, ask } = scene()
    for (const digit of ['a', 'e']) {
      for (const keys of [['f', digit], [digit]]) {
        all.list = listOf([ALICES, listing(MALLORY, ...keys)])
        expect(await ask(['e', 'a'])).toBe(true)
        all.list = listOf([ALICES, BOBS, listing(MALLORY, ...keys)])
        expect(await ask(['e', 'a', 'b'])).toBe(false)
      }
    }
  })

  test('by the bot is for it as any other', async () => {
    const { all, ask, asked } = scene()
    expect(await ask(['e', 'c'], { fromId: BOT })).toBe(true)
    expect(await ask(['e', 'a'], { fromId: BOT })).toBe(false)
    expect(asked.signer).not.toHaveBeenCalled()
    all.list = listOf([])
    expect(await ask(['e'], { fromId: BOT })).toBe(false)
  })

  test('by somebody who is not listed is judged by their own record', async () => {
    const { all, ask, asked } = scene()
    all.list = listOf([BOBS])
    expect(await ask(['e', 'a'])).toBe(true)
    expect(asked.signer.mock.calls[0]).toEqual([ALICE, 50])
    all.signer = null
    all.owners.delete(keyId('a'))
    expect(await ask(['e', 'a'])).toBe(false)
    expect(await ask(['e'])).toBe(true)
  })

  test('is judged by the list as it is now before anything is withheld', async () => {
    const { all, ask, asked } = scene()
    all.mayAskAgain = true
    all.fresh = listOf([ALICES, BOBS, person(CAROL, 'c')])
    expect(await ask(['e', 'c'])).toBe(false)
    expect(asked.askedInVain.mock.calls).toEqual([[ALICE, 50]])
    all.fresh = listOf([ALICES, BOBS])
    expect(await ask(['e', 'c'])).toBe(true)
    all.fresh = undefined
    expect(await ask(['e', 'c'])).toBe(true)
  })

  test('is judged by the list as it was where it was asked for in vain already', async () => {
    const { all, ask, asked } = scene()
    all.fresh = listOf([ALICES, BOBS, person(CAROL, 'c')])
    expect(await ask(['e', 'c'])).toBe(true)
    expect(asked.keyList).toHaveBeenCalledTimes(1)
  })

  test('is for it when a recipient is listed now whose key was seen with nobody, or elsewhere', async () => {
    const { all, ask } = scene()
    all.owners.set(keyId('b'), new Set([CAROL]))
    expect(await ask(['e', 'b'])).toBe(false)
  })

  test('by somebody who is listed is judged by the list', async () => {
    const { all, ask, asked } = scene()
    all.signer = null
    expect(await ask(['e', 'a'])).toBe(true)
    expect(asked.signer).not.toHaveBeenCalled()
  })

  test('is for it when the sender lists several certificates, and nobody else reads', async () => {
    const { all, ask } = scene()
    all.list = listOf([ALICES, person(ALICE, 'f')])
    expect(await ask(['e', 'a'])).toBe(false)
  })

  test('by nobody’s certificate is judged by what its signature names', async () => {
    const { all, ask } = scene()
    all.signer = null
    all.list = listOf([BOBS])
    expect(await ask(['b'], { intended: [primary('d')] })).toBe(true)
  })

  test('is for another chat when its signature names nobody but the sender and the bot', async () => {
    const { ask } = scene()
    const own = [primary('d'), subkey('e')]
    for (const intended of [own, [primary('a')], [...own, subkey('a')]]) {
      expect(await ask(['b'], { intended })).toBe(true)
      expect(await ask(['b'], { intended, hasUnnamed: true })).toBe(true)
    }
    const toBob = { intended: [...own, primary('b')] }
    expect(await ask(['b'], toBob)).toBe(false)
    expect(await ask(['e'], { ...toBob, hasUnnamed: true })).toBe(false)
  })
})
