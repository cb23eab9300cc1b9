/**
 * `npm run contract`: every case in every way whose service is the sandbox, or, with --url, those
 * that an implementation or a live account supports. Ends with 0 when all of them hold, with 1
 * when one does not or none could be played, with 2 when it was misused. See README.md.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { checkedLines } from './checked.ts'
import type { Driver } from './driver.ts'
import { playAll } from './play.ts'
import { ControlDriver } from './ways/control-driver.ts'
import { LiveDriver } from './ways/live.ts'
import { SandboxDriver } from './ways/sandbox-driver.ts'

const HELP = `npm run contract
  plays every case against the sandbox, through the sidecar with a protected bot, and through it
  with an open bot

npm run contract -- --url URL (--token TOKEN | --token-file FILE) [--chat ID]...
  plays those that need nothing but an account. It writes a few messages into one private chat and
  one group that take text: those named by --chat, or by updates that wait. It confirms no update
  and changes neither commands, key, webhook nor token.

npm run contract -- --url URL --control URL [--local-webhooks | --host-names]
  plays all against an implementation that offers the operations of the sandbox's control, with
  people, a bot and chats made for it. --local-webhooks: it takes webhooks on this machine.
  --host-names: the names that webhook cases use resolve for it. See test/contract/README.md.`

const print = (line: string): void => void process.stdout.write(`${line}\n`)

function misused(what: string): never {
  process.stderr.write(`contract: ${what}\n${HELP}\n`)
  process.exit(2)
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        url: { type: 'string' },
        token: { type: 'string' },
        'token-file': { type: 'string' },
        chat: { type: 'string', multiple: true, default: [] },
        control: { type: 'string' },
        'local-webhooks': { type: 'boolean', default: false },
        'host-names': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    return values
  } catch (error) {
    return misused(error instanceof Error ? error.message : 'unknown arguments')
  }
}

const { url, control, chat, help, ...given } = readArguments()
if (help) {
  print(HELP)
  process.exit(0)
}

async function controlWay(controlUrl: string): Promise<Driver> {
  if (url === undefined || !URL.canParse(url)) return misused('--control needs --url, a url')
  if (!URL.canParse(controlUrl)) return misused('--control is not a url')
  return await ControlDriver.create({
    url,
    controlUrl: controlUrl.replace(/\/+$/, ''),
    localWebhooks: given['local-webhooks'],
    hostNames: given['host-names'],
  })
}

async function liveWay(base: string): Promise<Driver> {
  const file = given['token-file']
  const token = file === undefined ? given.token : readFileSync(file, 'utf8').trim()
  if (token === undefined) return misused('--url needs --token or --token-file')
  if (!URL.canParse(base)) return misused('--url is not a url')
  const chats = chat.map(Number)
  if (!chats.every(Number.isSafeInteger)) return misused('--chat takes the id of a chat')
  return await LiveDriver.create({ url: base, token, chats })
}

async function run(way: Driver | Promise<Driver>): Promise<boolean> {
  const startMs = performance.now()
  await using driver = await way
  const { held, proven, notPlayed, broken } = await playAll(driver, ({ name, why }) =>
    print(`${driver.way}: BROKEN ${name}\n  ${why.replaceAll('\n', '\n  ')}`),
  )
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
  print(
    `${driver.way}: ${held} hold, ${broken.length} broken, ${notPlayed} not played, ${seconds} s`,
  )
  if (url !== undefined) for (const line of checkedLines(proven)) print(line)
  return broken.length === 0 && held > 0
}

if (url === undefined && (given.token ?? given['token-file'] ?? chat[0]) !== undefined) {
  misused('--token, --token-file and --chat go with --url')
}
const account = given.token ?? given['token-file'] ?? chat[0]
if (control !== undefined && account !== undefined) {
  misused('--control makes a bot of its own: no --token, --token-file or --chat')
}
if (given['local-webhooks'] && given['host-names']) {
  misused('a service that takes local webhooks refuses none: --local-webhooks or --host-names')
}
if (control === undefined && (given['local-webhooks'] || given['host-names'])) {
  misused('--local-webhooks and --host-names go with --control')
}
const ways: (Driver | Promise<Driver>)[] =
  url === undefined && control === undefined
    ? (['direct', 'protected', 'open'] as const).map((way) => new SandboxDriver(way))
    : [control === undefined ? liveWay(url ?? '') : controlWay(control)]
const outcomes = await Promise.all(ways.map(run)).catch((error: unknown) => {
  process.stderr.write(`contract: ${error instanceof Error ? error.message : 'failed'}\n`)
  return [false]
})
process.exit(outcomes.every(Boolean) ? 0 : 1)
