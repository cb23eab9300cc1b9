/** Each warning precedes its failure, and ends when the operator follows its line of the runbook. */
import { spawnSync } from '../support/programs.ts'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKey } from 'openpgp'
import { afterAll, expect, test } from 'vitest'
import { connectControl } from '../../src/operators/client.ts'
import type { WarningCode } from '../../src/observe/warnings.ts'
import { startAlertReceiver } from '../support/alert-receiver.ts'
import { DoubleService } from '../support/double-service.ts'
import { canary, useStage } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import { startSidecar } from '../support/sidecar.ts'
import { has } from '../support/lacks.ts'

const TIMEOUT_MS = 90_000
const DAY_S = 86_400
const OUT = 'the passphrase of an export'

const folder = mkdtempSync(join(tmpdir(), 'warnings-'))
const receiver = await startAlertReceiver()
const { posted } = receiver
afterAll(() => rmSync(folder, { recursive: true }))

const env = {
  POSTERN_ALERT_URL: receiver.url,
  POSTERN_KEY_RETAIN_DAYS: '20',
  POSTERN_EXPORT_PASSPHRASE: OUT,
}
const stage = useStage({ env })

async function shown(admin: string): Promise<{ warnings: string[]; metrics: string }> {
  const status = (await (await fetch(`${admin}/status`)).json()) as { warnings: { code: string }[] }
  const metrics = await (await fetch(`${admin}/metrics`)).text()
  return { warnings: status.warnings.map(({ code }) => code), metrics }
}

/** The operator is alerted, everything that shows warnings shows it, and the sidecar stays ready. */
async function expectWarned(code: WarningCode, admin = stage.sidecar.adminUrl): Promise<void> {
  await expect.poll(async () => (await shown(admin)).warnings).toContain(code)
  expect((await shown(admin)).metrics).toContain(`postern_warning{code="${code}"} 1`)
  expect((await fetch(`${admin}/readyz`)).status).toBe(200)
  const alerts = (): Json[] => posted.filter(({ alert }) => alert === code)
  await expect.poll(() => alerts().at(-1)).toMatchObject({ holds: true })
}

async function expectOver(code: WarningCode, admin = stage.sidecar.adminUrl): Promise<void> {
  await expect.poll(async () => (await shown(admin)).warnings).not.toContain(code)
  expect((await shown(admin)).metrics).toContain(`postern_warning{code="${code}"} 0`)
}

const isTold = (code: WarningCode, holds: boolean): boolean =>
  posted.some((one) => one.alert === code && one.holds === holds)

/** `postern key rotate`, until it is done. */
async function rotate(): Promise<void> {
  await using control = await connectControl(stage.sidecar.dataDir)
  await control?.keyRotate()
}

test('the warning `key-ending` ends with `key rotate`', { timeout: TIMEOUT_MS }, async () => {
  const { privateKey } = await generateKey({
    type: 'ecc',
    curve: 'curve25519Legacy',
    userIDs: [{ name: 'bot' }],
    passphrase: OUT,
    keyExpirationTime: 20 * DAY_S,
    format: 'armored',
  })
  const file = join(folder, 'bot.asc')
  writeFileSync(file, privateKey)
  const imported = await stage.sidecar.postern('key', 'import', file)
  expect(imported.code, imported.stderr).toBe(0)
  await expectWarned('key-ending')
  const left = /^postern_ends_in_seconds\{what="key"\} (\S+)$/m.exec(
    (await shown(stage.sidecar.adminUrl)).metrics,
  )?.[1]
  expect(Math.round(Number(left) / DAY_S)).toBe(20)
  await rotate()
  await expectOver('key-ending')
  await expect.poll(() => isTold('key-ending', false)).toBe(true)
})

test(
  'the warning `needed-key-ending` ends with a longer `key.retainDays`',
  { timeout: TIMEOUT_MS },
  async () => {
    const person = await stage.person()
    const chat = stage.privateChat(person)
    const former = stage.botCertificate
    await rotate()
    await expect.poll(() => stage.botCertificate).not.toBe(former)
    const armored = await person.phone.seal(canary(), [former])
    const [message] = await stage.deliver([stage.double.world.message(chat, person, { armored })])
    expect(message.postern.verdict).toBe('verified')
    await expectWarned('needed-key-ending')
    await stage.restart({ ...env, POSTERN_KEY_RETAIN_DAYS: '90' })
    await expectOver('needed-key-ending')
    await stage.restart(env)
  },
)

const disk = join(folder, 'disk')
mkdirSync(disk)
const isMounted = has(
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=340m', 'none', disk]).status === 0,
  'no file system can be mounted here, which takes root',
)
afterAll(() => void (isMounted && spawnSync('umount', ['-l', disk])))

test.skipIf(!isMounted)(
  'the warning `disk-filling` begins before the disk is full, and ends with free space',
  { timeout: TIMEOUT_MS },
  async () => {
    await using double = await DoubleService.start()
    await using sidecar = await startSidecar({
      upstream: double.url,
      dataDir: join(disk, 'data'),
      inside: true,
      env,
    })
    await sidecar.whenReady()
    expect((await shown(sidecar.adminUrl)).warnings).not.toContain('disk-filling')
    writeFileSync(join(disk, 'filler'), Buffer.alloc(90 * 2 ** 20, 1))
    await expectWarned('disk-filling', sidecar.adminUrl)
    rmSync(join(disk, 'filler'))
    await expectOver('disk-filling', sidecar.adminUrl)
    await expect.poll(() => isTold('disk-filling', false)).toBe(true)
  },
)
