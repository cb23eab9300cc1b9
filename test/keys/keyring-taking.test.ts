import { expect, test } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { MAX_OPENING } from '../../src/keys/keyring.ts'
import { addKey, open, temporary } from '../store/support.ts'
import { certificateOf, engineDouble, lockedUnder } from './engine-double.ts'
import { printOf } from '../kernel/people/people-scene.ts'
import { loadKeyring } from './support.ts'

const START_MS = 1_000_000_000

useFakeTime({ now: START_MS, toFake: ['Date'] })

test('a key from elsewhere that its passphrase does not unlock is not stored', async () => {
  const store = await open(temporary(), { protection: 'none' })
  const ring = await loadKeyring(store, engineDouble())
  const fingerprint = printOf('taken')
  const locked = lockedUnder(fingerprint, 'another passphrase')
  const adopt = async () => ({ fingerprint, certificate: certificateOf(fingerprint), locked })
  await expect(ring.takePending(adopt)).rejects.toThrow('wrong-passphrase')
  expect([ring.all, (await loadKeyring(store, engineDouble())).all]).toEqual([[], []])
})

test('a retired key beyond `MAX_OPENING` is not unlocked, opens nothing, and can be destroyed', async () => {
  const store = await open(temporary(), { protection: 'none' })
  const { masterSecret } = store
  const prints = Array.from({ length: MAX_OPENING + 1 }, (_, n) => printOf(`old${n}`))
  for (const [n, fingerprint] of prints.entries()) {
    const certificate = certificateOf(fingerprint)
    const locked = lockedUnder(fingerprint, masterSecret ?? '')
    const times = { created_at: START_MS - n, retired_at: START_MS }
    await addKey(store, fingerprint, { certificate, locked, ...times })
  }
  const ring = await loadKeyring(store, engineDouble())
  const oldest = ring.find(prints.at(-1) ?? '')!
  expect(oldest).toMatchObject({ unlocked: null, state: 'retired' })
  expect(ring.opens(oldest)).toBe(false)
  expect(ring.unlocked).toHaveLength(MAX_OPENING)
  await ring.destroy(oldest.fingerprint)
  expect(ring.find(oldest.fingerprint)).toMatchObject({ state: 'destroyed' })
})
