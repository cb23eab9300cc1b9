/** Keys that come in passing, and people who come in between: neither changes who is sealed to. */
import { expect, test } from 'vitest'
import { keyOf } from '../support/double-phones.ts'
import { arrives, expectSealed } from '../support/double-sends.ts'
import { useStage, type Person } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage({ env: { POSTERN_CACHE_KEY_LIST_SECONDS: '0' } })

/** A send that these people can read, and no others. */
async function sealed(chat: DoubleChat, to: Person[], notTo: Person[]): Promise<void> {
  const armored = await expectSealed(stage, chat, to)
  for (const { phone } of notTo) await expect(phone.unwrap(armored)).rejects.toThrow()
}

test('a certificate in or beside a person’s message does not become that person’s key', async () => {
  const [friend, thief] = [await stage.person(), await stage.person()]
  const chat = stage.privateChat(friend)
  const { certificate, fingerprint } = thief.phone
  const armored = await friend.phone.seal(certificate, [stage.botCertificate])
  const carrying = stage.double.world.message(chat, friend, {
    armored,
    publicKey: certificate,
    fingerprint,
    keys: [keyOf(thief.phone)],
  })
  Object.assign(carrying.from, { publicKey: certificate, fingerprint, key: keyOf(thief.phone) })
  const [read] = await stage.deliver([carrying])
  expect(read).toMatchObject({ postern: { verdict: 'verified' } })
  expect(read.text).toContain('BEGIN PGP PUBLIC KEY BLOCK')

  const forged = await thief.phone.seal('pay him', [stage.botCertificate])
  const next = await arrives(stage, chat, friend, forged)
  expect(next.postern.verdict).toBe('bad-signature')
  expect(next).not.toHaveProperty('text')
  await sealed(chat, [friend], [thief])
})

test('a key beside a chat in an update does not become anybody’s key', async () => {
  const [friend, thief] = [await stage.person(), await stage.person()]
  const chat = stage.privateChat(friend)
  const extra = { publicKey: thief.phone.certificate, keys: [keyOf(thief.phone)] }
  await stage.deliver([
    { ...stage.double.world.message(chat, null, { kind: 'joined' }), chat: { ...chat, ...extra } },
  ])
  await sealed(chat, [friend], [thief])
})
