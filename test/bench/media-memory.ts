/**
 * What opening one file adds to this process at its peak, in MiB, on stdout:
 * `node test/bench/media-memory.ts ours|openpgpjs FILE KEY`. The file is read as it is opened.
 */
import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMessage, decrypt, encrypt, readMessage, readPrivateKey } from 'openpgp'
import { SpoolDir } from '../../src/media/spool-dir.ts'
import { ByteReader } from '../../src/openpgp/format/packet-stream.ts'
import { createEngine } from '../../src/openpgp/create.ts'
import type { OpenFileOptions } from '../../src/openpgp/engine.ts'
import { unlockedFrom } from '../../src/openpgp/library/secret-key.ts'
import { forgetPeak, peakBytes } from '../support/sidecar-process.ts'
import { inPieces } from './media.ts'

const [, , name = '', file = '', keyFile = ''] = process.argv
const bytes = new Uint8Array(readFileSync(keyFile))
const key = await readPrivateKey({ binaryKey: bytes })
const unlocked = unlockedFrom(key)
const folder = mkdtempSync(join(tmpdir(), 'pb-'))
const engine = createEngine()
const spool = new SpoolDir(folder, 2 ** 30)

async function ours(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const options: OpenFileOptions = { form: 'binary', keys: [unlocked], room: spool }
  const opened = await engine.openFile(new ByteReader(pieces), options)
  if (opened.outcome !== 'opened') throw new Error(opened.outcome)
  await opened.file.close()
}

async function plainly(binaryMessage: Uint8Array): Promise<void> {
  const message = await readMessage({ binaryMessage })
  await decrypt({ message, decryptionKeys: key, format: 'binary' })
}

// What is loaded and started once is no part of it.
const small = await encrypt({
  message: await createMessage({ binary: new Uint8Array(300_000) }),
  encryptionKeys: key.toPublic(),
  format: 'binary',
})
await ours(inPieces(small))
await plainly(small)

const before = process.memoryUsage().rss
forgetPeak(process.pid)
if (name === 'ours') await ours(createReadStream(file) as AsyncIterable<Buffer>)
else await plainly(new Uint8Array(readFileSync(file)))
process.stdout.write(String((peakBytes(process.pid) - before) / 2 ** 20))
await engine[Symbol.asyncDispose]()
rmSync(folder, { recursive: true, force: true })
