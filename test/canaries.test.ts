import { readFileSync, readdirSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { Canaries, canaries, setCanaries } from './support/canaries.ts'
import { listening } from './support/listening.ts'
import { spawnPostern } from './support/postern-process.ts'
import { spellings } from './support/spellings.ts'
import { watchedLog } from './support/watched-log.ts'

const WORDS = 'the key is under the third stone'

/** Collects for one test alone, so that what is found here does not fail the file. */
function aside(): Canaries {
  const whole = canaries()
  const own = new Canaries()
  setCanaries(own)
  onTestFinished(() => {
    if (whole !== null) setCanaries(whole)
  })
  return own
}

test('the search of logs finds a person’s words in each encoding', () => {
  for (const spelling of spellings(WORDS)) {
    const search = new Canaries()
    search.words(WORDS)
    search.watch('log', () => `{"msg":"${spelling}"}`)
    expect(search.findings(), spelling).toEqual([`log holds ${JSON.stringify(WORDS)}`])
  }
})

test('the search of logs reports nothing for a log without words and secrets', () => {
  const search = new Canaries()
  search.words(WORDS)
  search.words('hello')
  search.secret('hunter2')
  search.watch('log', () => '{"msg":"listening","hello":"the key"}')
  expect(search.findings()).toEqual([])
})

test('the search of logs finds tokens, passphrases, armor and secrets of files', () => {
  const search = new Canaries()
  const file = new URL('../LICENSE', import.meta.url).pathname
  search.environment({ POSTERN_BOT_TOKEN: 'bot_7.abc', POSTERN_KEY_PASSPHRASE_FILE: file })
  search.body(Buffer.from(JSON.stringify({ result: [{ armored: `\n${'Ab9/'.repeat(16)}\n` }] })))
  search.watch('token', () => 'Bearer bot_7.abc')
  search.watch('file', () => readFileSync(file, 'utf8').trim())
  search.watch('line of armor', () => 'Ab9/'.repeat(16))
  search.watch('armor', () => '-----BEGIN PGP MESSAGE-----')
  expect(search.findings().map((found) => found.split(' holds ')[0])).toEqual([
    'token',
    'file',
    'line of armor',
    'armor',
  ])
})

test('the log of a sidecar process is searched at each level', async () => {
  const search = aside()
  search.words(WORDS)
  const node = [`--import=data:text/javascript,console.error(${JSON.stringify(WORDS)})`]
  const env = { PATH: process.env['PATH'] ?? '' }
  await once(spawnPostern(['run'], { cwd: '/', env, node }), 'close')
  expect(search.findings()).toEqual([`postern run holds ${JSON.stringify(WORDS)}`])
})

test('a log inside the test’s process is searched', () => {
  const search = aside()
  search.secret('hunter2')
  watchedLog().trace({ error: new Error('hunter2') }, 'said')
  expect(search.findings()).toHaveLength(1)
})

test('texts that a test sends or receives over HTTP count as a person’s words', async () => {
  const said = 'said to the sidecar by its bot'
  const heard = 'heard from the sidecar by its bot'
  const server = createServer((request, response) => {
    request.resume()
    response.end(JSON.stringify({ ok: true, result: [{ message: { text: heard } }] }))
  })
  const body = JSON.stringify({ chatId: 1, text: said })
  await (await fetch(await listening(server), { method: 'POST', body })).text()
  const { collected } = await import('./support/canaries-setup.ts')
  const search = new Canaries()
  for (const bytes of collected()) search.body(bytes)
  for (const words of [said, heard]) search.watch(words, () => words)
  expect(search.findings()).toHaveLength(2)
})

/** As it stands in an import or in a URL; a comment may name it. */
const START = "/main.ts'"

test('no test starts a sidecar or makes a log outside of the search', () => {
  const allowed: Record<string, RegExp> = {
    [START]:
      /^(support\/postern-process|release\/launcher|cli\/closed-pipe|architecture|canaries|examples\/deployment|bench\/)/,
    'logger.ts': /^(logger\.test|bench\/|canaries\.test)/,
    "from 'pino'": /^(support\/watched-log|canaries\.test)/,
  }
  const folder = new URL('.', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  const strays = files.flatMap((name) => {
    const text = readFileSync(new URL(name, folder), 'utf8')
    return Object.entries(allowed)
      .filter(([mark, whose]) => text.includes(mark) && !whose.test(name))
      .map(([mark]) => `${name}: ${mark}`)
  })
  expect(strays).toEqual([])
})
