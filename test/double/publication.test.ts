import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { GpgPhone } from '../support/double-phones.ts'
import { useStage } from '../support/double-stage.ts'
import { no } from '../support/double-wire.ts'
import { until } from '../support/sidecar.ts'

// The tests of this file follow one another.
const stage = useStage({
  ready: false,
  before: (double) => {
    double.script('PUT', '/key', no(500, 'internal'), 1)
  },
})

test('a sidecar that has not published its key refuses private sends, and is not ready', async () => {
  const chat = stage.privateChat(await stage.friend())
  await stage.show(chat)
  const sent = await stage.send(chat, 'too early')
  const { status, reasons } = await stage.sidecar.readiness()
  // The second attempt may have come in between.
  if (sent.status !== 201) {
    expect([sent.status, sent.json.error.code]).toEqual([503, 'postern_key_unpublished'])
  }
  if (status !== 200) expect(reasons).toContain('key-unpublished')
})

test('a failed publication is repeated with the same key until the service shows the key', async () => {
  await stage.sidecar.whenReady()
  const puts = stage.double.calls('PUT', '/key')
  expect(puts.length).toBe(2)
  expect(puts[1]?.body).toBe(puts[0]?.body)
})

test('the published certificate has the published fingerprint in GnuPG, and Curve25519 keys without an end', async () => {
  const { publicKey, fingerprint } = stage.double.calls('PUT', '/key')[1]?.json ?? {}
  expect(fingerprint).toMatch(/^[0-9a-f]{40}$/)
  await using phone = await GpgPhone.make()
  const imported = await phone.gpg(['--status-fd', '2', '--import'], publicKey)
  expect(imported.stderr).toContain(`IMPORT_OK 1 ${fingerprint.toUpperCase()}`)
  const listed = (await phone.gpg(['--with-colons', '--list-keys', fingerprint])).stdout.toString()
  const [primary = [], subkey = []] = listed
    .split('\n')
    .filter((line) => /^(pub|sub):/.test(line))
    .map((line) => line.split(':'))
  // Algorithms 22 and 18 are EdDSA and ECDH (RFC 9580, 9.1), what every program reads in v4.
  expect([primary[3], primary[16]]).toEqual(['22', 'ed25519'])
  expect([subkey[3], subkey[16]]).toEqual(['18', 'cv25519'])
  expect([primary[11]?.replace(/[A-Z]/g, ''), subkey[11]]).toEqual(['sc', 'e'])
  expect([primary[6], subkey[6]]).toEqual(['', ''])
  const ageSeconds = Date.now() / 1000 - Number(primary[5])
  expect(ageSeconds).toBeGreaterThan(240)
  expect(publicKey).not.toContain('PRIVATE')
})

test('the log warns that publication encrypts private chats for good, with the fingerprint', () => {
  const lines = stage.sidecar.logs().split('\n')
  const warned = lines.findIndex((line) => line.includes('encrypted for good'))
  expect(warned).toBeGreaterThan(-1)
  expect(lines[warned]).toContain(stage.double.world.published?.fingerprint)
})

test('the data directory and its files are accessible to their owner alone', async () => {
  const { dataDir } = stage.sidecar
  expect(statSync(dataDir).mode & 0o777).toBe(0o700)
  for (const name of readdirSync(dataDir)) {
    expect([name, statSync(join(dataDir, name)).mode & 0o077]).toEqual([name, 0])
  }
})

test('a restarted sidecar opens messages with the same key, and publishes nothing', async () => {
  const puts = stage.double.calls('PUT', '/key').length
  await stage.restart()
  await stage.sidecar.whenReady()
  expect(stage.double.calls('PUT', '/key').length).toBe(puts)
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const armored = await person.phone.seal('after the restart', [stage.botCertificate])
  const [read] = await stage.deliver([stage.double.world.message(chat, person, { armored })])
  expect(read.text).toBe('after the restart')
})

test('a sidecar killed during its publication has one published key after a restart', async () => {
  await using other = await stage.another((double) => {
    double.script('PUT', '/key', (request) => {
      double.world.published = request.json
      return 'hang'
    })
  })
  const { double, sidecar } = other
  await until(() => double.calls('PUT', '/key').length > 0, 'the key is on its way')
  await sidecar.kill()
  const { publicKey, fingerprint } = double.world.published ?? {}
  double.world.bot = { ...double.world.bot, mode: 'protected', fingerprint }
  await other.restart()
  await other.sidecar.whenReady()
  expect(double.calls('PUT', '/key').length).toBe(1)
  const shown = JSON.parse((await other.sidecar.postern('key', 'show', '--json')).stdout) as object
  expect(shown).toMatchObject({ fingerprint, state: 'active' })
  expect(shown).toHaveProperty('certificate', publicKey)
})

test('a sidecar makes no key while its clock and the service’s differ by ten minutes', async () => {
  const wrong = { date: new Date(Date.now() + 600_000).toUTCString() }
  await using other = await stage.another((double) => {
    double.script('GET', '/me', () => ({
      headers: wrong,
      json: { ok: true, result: double.world.bot },
    }))
  })
  await other.sidecar.whenReason('clock')
  expect((await other.sidecar.readiness()).reasons).toEqual(
    expect.arrayContaining(['clock', 'key-unpublished']),
  )
  expect(other.double.calls('PUT', '/key')).toEqual([])
  const listed = await other.sidecar.postern('key', 'list', '--json')
  expect(JSON.parse(listed.stdout)).toEqual([])
})
