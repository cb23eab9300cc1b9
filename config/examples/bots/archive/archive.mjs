// An archive: appends every message with its verdict to a file. Needs nothing but Node 20.
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const { BASE_URL = 'http://127.0.0.1:8700', ARCHIVE = 'archive.jsonl' } = process.env
const MOST_OF_A_LINE = 16 << 20

// Asks for updates until there is an answer.
async function poll(offset) {
  for (let seconds = 1; ; seconds = Math.min(seconds * 2, 30)) {
    const { ok, result, error, retryAfter } = await pollOnce(offset)
    if (ok) return result
    const wait = Math.max(seconds, Number(retryAfter) || 0)
    console.error(`${error.code}: trying again in ${wait} s`)
    await pause(wait * 1000)
  }
}

async function pollOnce(offset) {
  try {
    // The token is read each time, since it may have been replaced.
    const token = fs.readFileSync(process.env.BOT_TOKEN_FILE, 'utf8').trim()
    const response = await fetch(`${BASE_URL}/bot/v1/updates?timeout=50&offset=${offset}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(75_000),
    })
    return { ...(await response.json()), retryAfter: response.headers.get('retry-after') }
  } catch (error) {
    return { ok: false, error: { code: error.cause?.code ?? error.message } }
  }
}

// Opens the file behind its last whole line. The file is the memory: the next offset follows from it.
function openArchive() {
  const file = fs.openSync(ARCHIVE, 'a+', 0o600)
  const { size } = fs.fstatSync(file)
  const tail = Buffer.alloc(Math.min(size, MOST_OF_A_LINE))
  fs.readSync(file, tail, 0, tail.length, size - tail.length)
  const end = tail.lastIndexOf('\n') + 1
  const cut = tail.subarray(end, end + 12).toString()
  const [last] = tail.subarray(0, end).toString().trimEnd().split('\n').slice(-1)
  const offset = last === '' ? 0 : JSON.parse(last).updateId + 1
  if (!Number.isSafeInteger(offset) || !'{"updateId":'.startsWith(cut)) {
    throw new Error(`${ARCHIVE} is no archive of this program`)
  }
  // The update of a line that a crash cut is not confirmed, and comes again.
  if (cut !== '') fs.ftruncateSync(file, size - tail.length + end)
  fs.fsyncSync(fs.openSync(dirname(ARCHIVE), 'r')) // a new file has its name on the disk
  return { file, offset }
}

function lineOf({ updateId, message }) {
  const { verdict = null, reason = null } = message.postern ?? {}
  return `${JSON.stringify({ updateId, verdict, reason, message })}\n`
}

let { file, offset } = openArchive()
console.error(`archiving into ${ARCHIVE}, from update ${offset} on`)
for (;;) {
  const updates = await poll(offset)
  const lines = updates.filter(({ message }) => message !== undefined).map(lineOf)
  // Where the disk is full, this ends the program before anything is confirmed.
  fs.writeFileSync(file, lines.join(''))
  if (lines.length > 0) fs.fsyncSync(file)
  // On the disk: the next poll confirms these updates.
  offset = (updates.at(-1)?.updateId ?? offset - 1) + 1
}
