import { expect, test } from 'vitest'
import { arrives as arrivesFrom, shownChat } from '../support/double-sends.ts'
import { useStage, type Person } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'
import { GpgPhone } from '../support/double-phones.ts'
import { expectSettled, keysOf, putsOf, rotate, shownBy } from './support.ts'

const stage = useStage()
const old = { certificate: '', fingerprint: '' }
let person: Person
let chat: DoubleChat

/** What the service was sent by one send of the bot's. */
async function sent(text: string): Promise<string> {
  const since = stage.double.mark()
  expect((await stage.send(chat, text)).status).toBe(201)
  return stage.bodies(since)[0].armored
}

/** What the bot gets when this arrives from the person. */
const arrives = (armored: string) => arrivesFrom(stage, chat, person, armored)

// The tests of this file follow one another.
test('`key rotate` prints the new fingerprint, and the service shows it', async () => {
  person = await stage.friend()
  chat = await shownChat(stage, person)
  old.certificate = stage.botCertificate
  old.fingerprint = shownBy(stage) ?? ''
  const early = await sent('before')
  expect((await person.phone.open(early, old.certificate)).signer).toBe(old.fingerprint)

  const fingerprint = await rotate(stage)
  expect(fingerprint).toMatch(/^[0-9a-f]{40}$/)
  expect(fingerprint).not.toBe(old.fingerprint)
  expect(shownBy(stage)).toBe(fingerprint)
  expect(putsOf(stage)).toEqual([old.fingerprint, fingerprint])
  await expectSettled(stage, { retired: 1 })
  expect((await stage.sidecar.readiness()).status).toBe(200)
})

test('GnuPG verifies the bot’s message after a rotation by the new key', async () => {
  const late = await sent('after')
  const opened = await person.phone.open(late, stage.botCertificate)
  expect(opened).toEqual({ text: 'after', signer: shownBy(stage) })
})

test('messages sealed to the old key and to the new key are opened after a rotation', async () => {
  const toOld = await person.phone.seal('late', [old.certificate])
  const toNew = await person.phone.seal('in time', [stage.botCertificate])
  expect(await arrives(toOld)).toMatchObject({ text: 'late', postern: { verdict: 'verified' } })
  expect(await arrives(toNew)).toMatchObject({ text: 'in time', postern: { verdict: 'verified' } })
})

test('a quoted message of the bot is verified by the old key', async () => {
  const early = stage.double.world.written[0]?.body.armored
  const self = { id: stage.double.world.bot['id'] as number, key: null }
  const quoted = stage.double.world.message(chat, self, { armored: early })
  const armored = await person.phone.seal('what was that?', [stage.botCertificate])
  const message = stage.double.world.message(chat, person, { armored, replyTo: quoted })
  const [read] = await stage.deliver([message])
  expect(read.replyTo).toMatchObject({
    text: 'before',
    postern: { verdict: 'verified', signer: old.fingerprint },
  })
})

test('gpg --check-sigs verifies the old key’s certification of the new certificate', async () => {
  await using gpg = await GpgPhone.make()
  await gpg.gpg(['--import'], old.certificate)
  await gpg.gpg(['--import'], stage.botCertificate)
  const listing = await gpg.gpg(['--with-colons', '--check-sigs', shownBy(stage) ?? ''])
  const good = listing.stdout
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('sig:!'))
    .map((line) => line.split(':')[4]?.toLowerCase())
  expect(good).toContain(old.fingerprint.slice(-16))
})

test('`key list` shows the opened messages of each key, and the end of the retired one', async () => {
  await stage.restart()
  await stage.sidecar.whenReady()
  const [active, retired] = await keysOf(stage.sidecar)
  expect(active).toMatchObject({ state: 'active', opens: true, opensUntil: null })
  expect(retired).toMatchObject({ fingerprint: old.fingerprint, state: 'retired', opens: true })
  // The quoted message was sealed to the key that signed it.
  expect([active?.openedMessages, retired?.openedMessages]).toEqual([2, 2])
  expect(retired?.lastOpenedAt).not.toBeNull()
  const days = (Date.parse(retired?.opensUntil ?? '') - Date.now()) / 86_400_000
  expect(Math.round(days)).toBe(30)
  const table = (await stage.sidecar.postern('key', 'list')).stdout
  expect(table).toMatch(new RegExp(`${old.fingerprint} +retired .* until .* 2 messages, 0 files`))
})

test('`key rotate --json` without a running sidecar rotates by itself, step by step', async () => {
  await stage.sidecar.stop()
  const done = await stage.sidecar.postern('key', 'rotate', '--json')
  expect(done.code, done.stderr).toBe(0)
  const steps = done.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { phase: string })
  expect(steps.at(-1)).toMatchObject({
    phase: 'done',
    to: shownBy(stage),
    endedAt: expect.any(String),
  })
  await stage.restart()
  await stage.sidecar.whenReady()
  await expectSettled(stage, { retired: 2 })
})
