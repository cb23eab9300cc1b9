/** Whether an attachment that was given before may be given again. */
import { expect, test } from 'vitest'
import { mayStillGive } from '../../../src/kernel/opening/file.ts'
import type { FileParts, GivenVerdict } from '../../../src/kernel/opening/file.ts'
import { ALICE, FINGERPRINT, known, partsOf } from './signatures-scene.ts'

/** @param o what is known by now; `isSealed` and `personOf` of the chat, once the store was read */
async function mayStill(
  given: GivenVerdict,
  more: Partial<ReturnType<typeof known>> = {},
  o: { isSealed?: boolean; personId?: number } = {},
) {
  const state = { isFresh: false }
  const parts = {
    ...partsOf({ ...known(), ...more }),
    fresh: async () => {
      await new Promise(setImmediate)
      state.isFresh = true
    },
    guard: { mustSeal: () => state.isFresh && o.isSealed === true },
    knownChats: { personOf: () => (state.isFresh ? (o.personId ?? null) : null) },
  } as unknown as FileParts
  return await mayStillGive(given, { mediaId: 'm', chatId: 50, userId: ALICE }, parts)
}

const VERIFIED = { verdict: 'verified', signer: FINGERPRINT } as const
const UNSIGNED = { verdict: 'unsigned' } as const
const STORED = { verdict: null } as const

test('a delivered file may be delivered again while nothing changed', async () => {
  for (const given of [VERIFIED, UNSIGNED, STORED]) expect(await mayStill(given)).toBe(true)
})

test('a file delivered as stored is refused once its chat is protected', async () => {
  expect(await mayStill(STORED, {}, { isSealed: true })).toBe(false)
  expect(await mayStill(VERIFIED, {}, { isSealed: true })).toBe(true)
  expect(await mayStill(UNSIGNED, {}, { isSealed: true })).toBe(true)
})

test('a verified file is refused once its certificate is revoked', async () => {
  expect(await mayStill(VERIFIED, { revoked: FINGERPRINT })).toBe(false)
  expect(await mayStill(VERIFIED, { revoked: 'b'.repeat(40) })).toBe(true)
  expect(await mayStill(UNSIGNED, { revoked: FINGERPRINT })).toBe(true)
})

test('a file of a person other than the private chat’s is refused', async () => {
  for (const given of [VERIFIED, UNSIGNED, STORED]) {
    expect(await mayStill(given, {}, { personId: ALICE + 1 })).toBe(false)
    expect(await mayStill(given, {}, { personId: ALICE })).toBe(true)
  }
})

test('an unsigned file of a blocked person is refused, and of a person who has signed since delivered', async () => {
  expect(await mayStill(UNSIGNED, { isBlocked: true })).toBe(false)
  expect(await mayStill(UNSIGNED, { hasSigned: () => true })).toBe(true)
})
