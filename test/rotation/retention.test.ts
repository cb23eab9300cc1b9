import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DeletionReport } from '../../src/operators/keys.ts'
import { arrives as arrivesFrom, shownChat } from '../support/double-sends.ts'
import { useStage, type Person } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'
import { changeSealed, expectRefused, keysOf, metricOf, rotate, shownBy } from './support.ts'

const DAY_MS = 86_400_000
const stage = useStage({ env: { POSTERN_KEY_RETAIN_DAYS: '5' } })
const old = { certificate: '', fingerprint: '', locked: '', message: '' }
let person: Person
let chat: DoubleChat

const arrives = (armored: string) => arrivesFrom(stage, chat, person, armored)

/** Lets the old key have retired so many days ago. */
async function restartRetired(days: number): Promise<void> {
  await stage.sidecar.stop()
  const at = Date.now() - days * DAY_MS
  await changeSealed(stage.sidecar.dataDir, 'own_keys', { retired_at: at }, { state: 'retired' })
  await stage.restart()
  await stage.sidecar.whenReady()
}

/** Files of the data directory in which these bytes stand. */
function filesWith(bytes: string): string[] {
  const { dataDir } = stage.sidecar
  const files = readdirSync(dataDir, { withFileTypes: true }).filter((one) => one.isFile())
  return files
    .map(({ name }) => name)
    .filter((name) => readFileSync(join(dataDir, name)).includes(bytes))
}

const remove = (...args: string[]) => stage.sidecar.postern('key', 'delete', ...args)

// The tests of this file follow one another.
test('a retired key opens messages until `retainDays` are over', async () => {
  person = await stage.friend()
  chat = await shownChat(stage, person)
  old.certificate = stage.botCertificate
  old.fingerprint = shownBy(stage) ?? ''
  const mark = stage.double.mark()
  await stage.send(chat, 'signed by the old one')
  old.message = stage.bodies(mark)[0].armored
  await rotate(stage)
  await restartRetired(4.9)
  const late = await person.phone.seal('late', [old.certificate])
  expect(await arrives(late)).toMatchObject({ text: 'late', postern: { verdict: 'verified' } })
})

test('a retired key past `retainDays` opens nothing and is kept, as `key list` shows', async () => {
  await restartRetired(5.1)
  const late = await person.phone.seal('too late', [old.certificate])
  expect(await arrives(late)).toMatchObject({
    armored: late,
    postern: { verdict: 'not-recipient' },
  })
  const kept = (await keysOf(stage.sidecar)).find(({ state }) => state === 'retired')
  expect(kept).toMatchObject({ opens: false, openedMessages: 1 })
  const listed = await stage.sidecar.postern('key', 'list')
  expect(listed.stdout).toMatch(/retired .* no more /)
  expect(listed.stderr).toContain('postern key delete')
})

test('a retired key opens messages again after `retainDays` is raised', async () => {
  await stage.restart({ POSTERN_KEY_RETAIN_DAYS: '30' })
  await stage.sidecar.whenReady()
  const late = await person.phone.seal('late after all', [old.certificate])
  expect((await arrives(late)).text).toBe('late after all')
})

test('`key delete` names the messages and copies that become unreadable, and needs --yes', async () => {
  const { dataDir } = stage.sidecar
  writeFileSync(join(dataDir, 'postern.v1.20260101T000000000Z.db'), 'a copy', { mode: 0o600 })
  const asked = await remove(old.fingerprint)
  expect([asked.code, asked.stdout]).toEqual([2, ''])
  expect(asked.stderr).toMatch(/unreadable for good:\n {2}messages sealed to it, from 20/)
  expect(asked.stderr).toContain('it would have gone on opening until')
  expect(asked.stderr).toMatch(/opened 2 messages and 0 files, the last at 20/)
  expect(asked.stderr).toContain('postern.v1.20260101T000000000Z.db in dataDir')
  expect(asked.stderr).toContain('--yes does it without asking')
  expect((await keysOf(stage.sidecar)).map(({ state }) => state)).toEqual(['active', 'retired'])
})

test('`key delete` removes a key from every file of the running sidecar’s store', async () => {
  await stage.sidecar.stop()
  const database = new DatabaseSync(join(stage.sidecar.dataDir, 'postern.db'))
  const row = database
    .prepare('SELECT locked FROM own_keys WHERE fingerprint = ?')
    .get(old.fingerprint)
  database.close()
  // a line of the armor in the middle of it, which no other key shares
  old.locked = String(row?.['locked']).split('\n')[6] ?? ''
  await stage.restart()
  await stage.sidecar.whenReady()
  expect(filesWith(old.locked)).not.toEqual([])

  const done = await remove(old.fingerprint, '--yes', '--json')
  expect(done.code, done.stderr).toBe(0)
  expect((JSON.parse(done.stdout) as DeletionReport).key.fingerprint).toBe(old.fingerprint)
  expect(filesWith(old.locked)).toEqual([])
  const gone = (await keysOf(stage.sidecar)).find(
    ({ fingerprint }) => fingerprint === old.fingerprint,
  )
  expect(gone).toMatchObject({ state: 'destroyed', opens: false, openedMessages: 2 })
  expect(await metricOf(stage.sidecar, 'postern_own_keys{state="destroyed"}')).toBe(1)
  expectRefused(await remove(old.fingerprint, '--yes'), 'refused', /destroyed already/)
})

test.each(['at once', 'after a restart'])('a deleted key opens nothing, %s', async (when) => {
  if (when === 'after a restart') await stage.restart()
  await stage.sidecar.whenReady()
  const late = await person.phone.seal('never', [old.certificate])
  expect((await arrives(late)).postern.verdict).toBe('not-recipient')
})

test('a deleted key keeps its certificate, and the messages sealed to it alone stay closed', async () => {
  const shown = await stage.sidecar.postern('key', 'show', old.fingerprint)
  expect(shown.stdout).toContain('BEGIN PGP PUBLIC KEY BLOCK')
  const self = { id: stage.double.world.bot['id'] as number, key: null }
  const own = stage.double.world.message(chat, self, { armored: old.message })
  const [read] = await stage.deliver([own])
  expect(read).toMatchObject({ armored: old.message, postern: { verdict: 'not-recipient' } })
})
