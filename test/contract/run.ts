/**
 * `npm run contract`: every case in every way whose service is the sandbox, or, with --url, those
 * that a live account can be asked. Ends with 0 when all of them hold.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Driver } from './driver.ts'
import { playAll } from './play.ts'
import { LiveDriver } from './ways/live.ts'
import { SandboxDriver } from './ways/sandbox-driver.ts'

const HELP = `npm run contract
  plays every case against the sandbox, through the sidecar with a protected bot, and through it
  with an open bot

npm run contract -- --url URL (--token TOKEN | --token-file FILE) [--chat ID]...
  plays those that need nothing but an account. It writes a few messages into one private chat and
  one group that take text: those named by --chat, or by updates that wait. It confirms no update
  and changes neither commands, key, webhook nor token.`

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
        help: { type: 'boolean', default: false },
      },
    })
    return values
  } catch (error) {
    return misused(error instanceof Error ? error.message : 'unknown arguments')
  }
}

const { url, chat, help, ...given } = readArguments()
if (help) {
  print(HELP)
  process.exit(0)
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
  const { held, notPlayed, broken } = await playAll(driver, ({ name, why }) =>
    print(`${driver.way}: BROKEN ${name}\n  ${why.replaceAll('\n', '\n  ')}`),
  )
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
  print(
    `${driver.way}: ${held} hold, ${broken.length} broken, ${notPlayed} not played, ${seconds} s`,
  )
  return broken.length === 0 && held > 0
}

if (url === undefined && (given.token ?? given['token-file'] ?? chat[0]) !== undefined) {
  misused('--token, --token-file and --chat go with --url')
}
const ways: (Driver | Promise<Driver>)[] =
  url === undefined
    ? (['direct', 'protected', 'open'] as const).map((way) => new SandboxDriver(way))
    : [liveWay(url)]
const outcomes = await Promise.all(ways.map(run)).catch((error: unknown) => {
  process.stderr.write(`contract: ${error instanceof Error ? error.message : 'failed'}\n`)
  return [false]
})
process.exit(outcomes.every(Boolean) ? 0 : 1)
