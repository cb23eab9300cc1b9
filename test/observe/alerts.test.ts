import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { load } from '../../src/config/load.ts'
import { alertForReason } from '../../src/observe/alerting.ts'
import { REASON_CODES } from '../../src/observe/health.ts'
import { startAlertReceiver } from '../support/alert-receiver.ts'
import { keyOf } from '../support/double-phones.ts'
import { canary, newPhone, useStage } from '../support/double-stage.ts'
import { settings, until } from '../support/sidecar.ts'
import { sourcesOf } from '../support/sources.ts'

const FOREIGN = 'AB'.repeat(20)
const folder = mkdtempSync(join(tmpdir(), 'alerts-'))
const received = join(folder, 'told.ndjson')
const command = join(folder, 'tell-me')
writeFileSync(command, `#!/bin/sh\ncat >> ${received}\nenv >> ${received}.env\n`)
chmodSync(command, 0o700)

const path = '/hooks/c0ffee-secret-path'
const { url, posted } = await startAlertReceiver({ path, refused: 1 })

const stage = useStage({
  env: {
    POSTERN_ALERT_COMMAND: command,
    POSTERN_ALERT_URL: url,
    POSTERN_CACHE_KEY_LIST_SECONDS: '0',
  },
})
afterAll(() => {
  rmSync(folder, { recursive: true })
})

interface Told {
  alert: string
  holds: boolean
  hint: string
  userId?: number
}
const byCommand = (): Told[] =>
  readFileSync(received, { encoding: 'utf8', flag: 'a+' })
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Told)

test('a key conflict is alerted to program and URL, repeated after a 503, and its end is alerted', async () => {
  const { world } = stage.double
  const ours = world.bot.fingerprint
  world.bot = { ...world.bot, fingerprint: FOREIGN }
  await stage.sidecar.call('GET', '/me')
  await until(
    () => byCommand().some(({ alert, holds }) => alert === 'key-conflict' && holds),
    'told',
  )
  await until(() => posted.length >= 2, 'posted twice')
  expect(posted[1]).toEqual(posted[0])
  expect(posted[1]).toMatchObject({ alert: 'key-conflict', holds: true })
  expect(byCommand().at(-1)?.hint).toContain('postern key publish --replace')

  world.bot = { ...world.bot, fingerprint: ours }
  await stage.sidecar.call('GET', '/me')
  await until(
    () => byCommand().some(({ alert, holds }) => alert === 'key-conflict' && !holds),
    'over',
  )
})

test('the alert program receives no setting of the sidecar, and the log never contains the alert URL', () => {
  const names = readFileSync(`${received}.env`, 'utf8').match(/^\w+(?==)/gm) ?? []
  expect(names).toContain('POSTERN_ALERT')
  expect(names.filter((name) => name.startsWith('POSTERN_') && name !== 'POSTERN_ALERT')).toEqual(
    [],
  )
  expect(stage.sidecar.logs()).not.toContain('c0ffee')
})

test('the new certificate of a verified person raises an alert with the id of the person', async () => {
  const person = await stage.person()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  const { fingerprint } = person.phone
  await stage.sidecar.postern('trust', 'verify', String(person.id), fingerprint)
  expect((await stage.send(chat, canary())).status).toBe(201)
  const phone = stage.use(await newPhone())
  Object.assign(person, { phone, key: keyOf(phone) })
  expect((await stage.send(chat, canary())).json.error.code).toBe('postern_trust_required')
  const alert = await until(
    () => byCommand().find((one) => one.alert === 'verified-changed'),
    'told of the change',
  )
  expect(alert).toMatchObject({ holds: true, userId: person.id })
})

test('`alertForReason` alerts these reasons, with nothing but alert, state, message and hint', () => {
  const codes = REASON_CODES.filter((code) => alertForReason({ code, holds: true }) !== null)
  expect(codes).toEqual([
    'token',
    'identity',
    'key-conflict',
    'key-expired',
    'bot-unprotected',
    'clock',
    'store',
    'store-unreachable',
    'store-rolled-back',
    'no-threads',
    'key-agent',
    'engine-differs',
    'webhook-failing',
    'outbox-stuck',
    'consumer-behind',
    'updates-expiring',
    'second-poller',
  ])
  for (const code of codes) {
    const alert = alertForReason({ code, holds: true })
    expect(Object.keys(alert ?? {})).toEqual(['alert', 'holds', 'what', 'hint'])
  }
})

test('`postern_alerts_total` counts alerts by way and outcome', async () => {
  const metrics = await (await fetch(`${stage.sidecar.adminUrl}/metrics`)).text()
  expect(metrics).toMatch(/^postern_alerts_total\{way="command",outcome="told"\} [1-9]/m)
})

test.each([
  ['POSTERN_ALERT_COMMAND', '/nowhere/at-all', 'expected a program that this user may run'],
  ['POSTERN_ALERT_COMMAND', tmpdir(), 'expected a program that this user may run'],
  ['POSTERN_ALERT_URL', 'http://hooks.example.org/secret', 'is no https URL'],
  ['POSTERN_ALERT_URL', 'file:///etc/passwd', 'is no https URL'],
  ['POSTERN_ALERT_URL', 'https://u:p@ss/word@hooks.example.org', 'is no https URL'],
])('the setting %s=%s is refused without the value of the URL', (name, value, expected) => {
  const dataDir = join(folder, 'data')
  const env = settings({ upstream: 'http://127.0.0.1:1', dataDir, env: { [name]: value } })
  let message = ''
  try {
    load(sourcesOf(env, folder))
  } catch (error) {
    message = (error as Error).message
  }
  expect(message).toContain(expected)
  expect(message).not.toContain('secret')
})
