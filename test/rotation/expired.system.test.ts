import { expect, test } from 'vitest'
import { Gpg } from '../support/openpgp-gpg.ts'
import { useStage } from '../support/double-stage.ts'
import { until } from '../support/sidecar.ts'
import { changeSealed, keysOf, rotate, shownBy } from './support.ts'

const OUT = 'the passphrase on the way out'
const stage = useStage({ env: { POSTERN_EXPORT_PASSPHRASE: OUT } })

/** Our key, as it were when it had been made to expire, and that moment had come. */
async function expiredCertificate(): Promise<string> {
  const { stdout } = await stage.sidecar.postern('key', 'export')
  await using gpg = await Gpg.start()
  await gpg.run(['--import'], stdout, OUT)
  const fingerprint = shownBy(stage) ?? ''
  await gpg.run(['--quick-set-expire', fingerprint, 'seconds=1'], undefined, OUT)
  const isOver = async (): Promise<boolean> => {
    const listed = await gpg.run(['--with-colons', '--list-keys', fingerprint])
    return listed.stdout.toString().includes('\npub:e:')
  }
  await until(isOver, 'expired')
  return (await gpg.run(['--armor', '--export', fingerprint])).stdout.toString()
}

// The tests of this file follow one another.
test('a sidecar with an expired key is unready, refuses sends, and fails `check`', async () => {
  const chat = stage.privateChat(await stage.friend())
  await stage.show(chat)
  const certificate = await expiredCertificate()
  await stage.sidecar.stop()
  await changeSealed(stage.sidecar.dataDir, 'own_keys', { certificate })
  await stage.restart()
  await stage.sidecar.whenReason('key-expired')
  const refused = await stage.send(chat, 'words')
  expect([refused.status, refused.json.error.code]).toEqual([503, 'postern_key_expired'])
  const { code, stdout } = await stage.sidecar.postern('check')
  expect(code).toBe(1)
  expect(stdout).toMatch(/^fail {2}key age: .* expired/m)
  expect(stdout).toContain('postern key rotate')
})

test('an expired key still opens messages, and a rotation replaces it', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const late = await person.phone.seal('late', [stage.botCertificate])
  const before = shownBy(stage)
  const after = await rotate(stage)
  await stage.sidecar.whenReady()
  expect(shownBy(stage)).toBe(after)
  expect((await stage.send(chat, 'words')).status).toBe(201)
  const [read] = await stage.deliver([stage.double.world.message(chat, person, { armored: late })])
  expect(read.text).toBe('late')
  const old = (await keysOf(stage.sidecar)).find(({ fingerprint }) => fingerprint === before)
  expect(old).toMatchObject({ state: 'retired', opens: true, openedMessages: 1 })
})
