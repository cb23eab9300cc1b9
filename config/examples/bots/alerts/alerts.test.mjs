// Alertmanager's and Grafana's payloads, sent to alerts.mjs before the sandbox and a sidecar: node --test
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createSandbox } from 'postern/sandbox'
import { startSidecar } from 'postern/testing'

const folder = mkdtempSync(join(tmpdir(), 'alerts-'))
const BOT_TOKEN_FILE = join(folder, 'token')
const SECRET_FILE = join(folder, 'secret')
const secret = 's'.repeat(32)
writeFileSync(BOT_TOKEN_FILE, `pstn_${'t'.repeat(32)}`, { mode: 0o600 })
writeFileSync(SECRET_FILE, `${secret}\n`, { mode: 0o600 })

let sandbox, alice, sidecar, url, logged
const children = []

/** Starts the sidecar, at the same address and with the same keys each time. */
async function start() {
  const client = { name: 'alerts', may: ['send'], chats: [sandbox.home.encryptedGroup] }
  sidecar = await startSidecar({
    upstream: sandbox.url,
    token: sandbox.token,
    dataDir: join(folder, 'data'),
    settings: {
      listen: { port: sidecar === undefined ? 0 : Number(new URL(sidecar.url).port) },
      clients: { list: [{ ...client, tokenFile: BOT_TOKEN_FILE }] },
    },
  })
}

/** Starts a program, which ends with the tests. @returns what it has printed so far */
function run(program, args, env = {}) {
  const stdio = ['ignore', 'ignore', 'pipe']
  const child = spawn(program, args, { env: { PATH: process.env.PATH, ...env }, stdio })
  children.push(child)
  let printed = ''
  child.stderr.on('data', (part) => (printed += part))
  return () => printed
}

async function until(isTrue) {
  for (let tries = 0; !isTrue(); tries++) {
    assert.ok(tries < 300, String(isTrue))
    await setTimeout(100)
  }
}

before(async () => {
  sandbox = await createSandbox({ rates: 'off' })
  alice = await sandbox.phone(sandbox.home.alice.id)
  await start()
  const CHAT_ID = String(sandbox.home.encryptedGroup)
  const env = { BASE_URL: sidecar.url, BOT_TOKEN_FILE, SECRET_FILE, CHAT_ID, PORT: '0' }
  logged = run(process.execPath, ['alerts.mjs'], env)
  await until(() => /port \d+/.test(logged()))
  url = `http://127.0.0.1:${/port (\d+)/.exec(logged())[1]}/`
})

after(async () => {
  for (const child of children) child.kill()
  await sidecar?.stop()
  await sandbox?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

/** What Alertmanager 0.25 sends, with alerts of one name. */
function payload(name, ...alerts) {
  return {
    receiver: 'chat',
    status: alerts.some(({ status }) => status !== 'resolved') ? 'firing' : 'resolved',
    alerts: alerts.map(({ status = 'firing', instance = 'a:9100', summary = 'down' }) => ({
      status,
      labels: { alertname: name, instance, severity: 'page' },
      annotations: { summary },
      startsAt: '2026-12-01T14:00:00.123Z',
      endsAt: status === 'resolved' ? '2026-12-01T14:05:00.123Z' : '0001-01-01T00:00:00Z',
      generatorURL: 'http://prometheus:9090/graph?g0.expr=up',
      fingerprint: Buffer.from(name + instance).toString('hex'),
    })),
    groupLabels: { alertname: name },
    commonLabels: { alertname: name, severity: 'page' },
    commonAnnotations: {},
    externalURL: 'http://alertmanager:9093',
    version: '4',
    groupKey: `{}:{alertname="${name}"}`,
    truncatedAlerts: 0,
  }
}

async function deliver(body, headers = { authorization: `Bearer ${secret}` }) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const { status } = await fetch(url, { method: 'POST', headers, body: text })
  return status
}

/** The messages of the bot that name something, as the person's phone shows them. */
async function shown(name) {
  await alice.settled()
  return alice.inbox.filter(({ text }) => text.includes(name))
}

test('a group of alerts is one sealed message', async () => {
  const alerts = [{ status: 'resolved' }, { instance: 'b:9100', summary: 'is\n\u0007 down' }]
  assert.equal(await deliver(payload('HostDown', ...alerts)), 204)
  const message = await alice.seen(({ text }) => text.includes('HostDown'))
  assert.equal(message.verdict, 'verified')
  assert.deepEqual(message.text.split('\n'), [
    'firing 1, resolved 1: HostDown',
    'firing: HostDown instance=b:9100 severity=page is down',
    'resolved: HostDown instance=a:9100 severity=page down',
  ])
  assert.deepEqual(sandbox.transcript.search('HostDown'), [])
})

test('a repeated delivery is one message, and a change of the group another', async () => {
  const [a, b] = [{ instance: 'a' }, { instance: 'b' }]
  const deliveries = [
    [a, b],
    [b, a],
    [{ ...a, summary: 'other words' }, b],
  ]
  for (const alerts of deliveries) assert.equal(await deliver(payload('Again', ...alerts)), 204)
  assert.equal((await shown('Again')).length, 1)
  const resolved = { ...a, status: 'resolved' }
  for (const alerts of [[a], [resolved, b], [resolved]]) {
    assert.equal(await deliver(payload('Again', ...alerts)), 204)
  }
  assert.equal((await shown('Again')).length, 4)
})

test('the payload of Grafana is written too', async () => {
  const { truncatedAlerts, ...body } = payload('Memory', { summary: 'low' })
  const [alert] = body.alerts
  const added = { values: { B: 44.2 }, valueString: '', dashboardURL: '', silenceURL: 'http://g/' }
  const grafana = { version: '1', orgId: 1, title: '[FIRING:1] Memory', state: 'alerting' }
  const startsAt = '2026-12-01T15:00:00.123456+02:00'
  const alerts = [{ ...alert, ...added, startsAt }]
  const sent = { ...body, ...grafana, message: '**Firing**', groupLabels: {}, alerts }
  assert.equal(await deliver(sent), 204)
  const lines = ['firing 1, resolved 0: chat', 'firing: Memory instance=a:9100 severity=page low']
  assert.equal((await alice.seen(({ text }) => text.includes('Memory'))).text, lines.join('\n'))
})

test('a text ends at the maximum of the service', async () => {
  const alerts = Array.from({ length: 300 }, (_, index) => ({
    instance: `i${index}`,
    summary: '🔥'.repeat(2000),
  }))
  const body = payload('Many', ...alerts)
  assert.equal(
    await deliver({ ...body, alerts: body.alerts.slice(0, 90), truncatedAlerts: 210 }),
    204,
  )
  const { text } = await alice.seen((message) => message.text.includes('Many'))
  assert.match(text, /^firing 90, resolved 0: Many\n[^]*\nand 29[0-9] more$/)
  assert.ok(text.length > 3000 && text.length <= 4096 && text.isWellFormed())
})

test('nothing is sent with a wrong secret, a body that is too large, or no alerts', async () => {
  const good = payload('Refused', {})
  assert.equal(await deliver(good, {}), 401)
  assert.equal(await deliver(good, { authorization: `Bearer ${secret}x` }), 401)
  assert.equal(await deliver(good, { authorization: `Basic ${secret}` }), 401)
  const large = { ...good, filler: 'x'.repeat(2 << 20) }
  assert.match(String(await deliver(large).catch(() => 413)), /413/)
  for (const body of ['', '{', 'null', '[]', '{}', '{"alerts":[null],"groupLabels":{}}']) {
    assert.equal(await deliver(body), 400)
  }
  assert.equal((await shown('Refused')).length, 0)
  assert.equal(await deliver(good), 204)
  await alice.seen(({ text }) => text.includes('Refused'))
})

test('a refused text is not delivered again', async () => {
  sandbox.fault('error', { route: 'sendMessage', times: 1, status: 400, code: 'bad_request' })
  assert.equal(await deliver(payload('Lost', {})), 204)
  assert.match(logged(), /alerts are lost: bad_request/)
  assert.equal((await shown('Lost')).length, 0)
})

test('alerts wait at their sender while the sidecar or the service is away', async () => {
  const body = payload('Away', {})
  for (const [status, code] of [
    [403, 'bot_paused'],
    [429, 'flood_wait'],
    [404, 'chat_not_found'],
  ]) {
    sandbox.fault('error', { route: 'sendMessage', times: 1, status, code, retryAfter: 1 })
    assert.equal(await deliver(body), 503)
  }
  await sidecar.stop()
  assert.equal(await deliver(body), 503)
  await start()
  assert.equal(await deliver(body), 204)
  assert.equal((await shown('Away')).length, 1)
})

const hasAlertmanager = spawnSync('prometheus-alertmanager', ['--version']).status === 0
const skip = hasAlertmanager ? false : 'not installed: prometheus-alertmanager'
test('Alertmanager with this configuration delivers an alert', { skip }, async () => {
  const config = readFileSync('alertmanager.yaml', 'utf8')
    .replace('http://127.0.0.1:9087/', url)
    .replace('/etc/alerts/secret', SECRET_FILE)
    .replace(/group_wait: .*/, 'group_wait: 100ms')
    .replace(/group_interval: .*/, 'group_interval: 1s')
  const file = join(folder, 'alertmanager.yaml')
  writeFileSync(file, config)
  const port = 20_000 + (process.pid % 10_000)
  const args = [`--config.file=${file}`, `--storage.path=${join(folder, 'alertmanager')}`]
  const listen = [`--web.listen-address=127.0.0.1:${port}`, '--cluster.listen-address=']
  const printed = run('prometheus-alertmanager', [...args, ...listen])
  await until(() => printed().includes('Listening'))
  const post = async (times) => {
    const labels = { alertname: 'Real', cluster: 'eu' }
    const body = JSON.stringify([{ labels, annotations: { summary: 'a real one' }, ...times }])
    const headers = { 'content-type': 'application/json' }
    const api = `http://127.0.0.1:${port}/api/v2/alerts`
    assert.equal((await fetch(api, { method: 'POST', headers, body })).status, 200)
  }
  const startsAt = new Date(Date.now() - 60_000).toISOString()
  await sidecar.stop()
  const before = logged().length
  await post({ startsAt })
  await until(() => /not sent yet[^]*not sent yet/.test(logged().slice(before)))
  await start()
  const line = (status) => `${status}: Real cluster=eu a real one`
  const { text } = await alice.seen((message) => message.text.endsWith(line('firing')), 30_000)
  assert.equal(text, `firing 1, resolved 0: Real eu\n${line('firing')}`)
  await post({ startsAt, endsAt: new Date(Date.now() - 1000).toISOString() })
  await alice.seen((message) => message.text.endsWith(line('resolved')), 30_000)
  assert.equal((await shown('Real')).length, 2)
})
