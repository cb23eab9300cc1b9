import { spawn } from '../support/programs.ts'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createMessage, decrypt, encrypt, readMessage } from 'openpgp'
import { SpoolDir } from '../../src/media/spool-dir.ts'
import { ByteReader } from '../../src/openpgp/format/packet-stream.ts'
import type { OpenFileOptions } from '../../src/openpgp/engine.ts'
import { compare, round, type Contender, type Result } from './measure.ts'
import { makeCast, type Cast } from './people.ts'
import { findPrograms } from './programs.ts'

const MIB = 2 ** 20
const PIECE = 65_536
const SIZES = [1, 16, 64]
/** The others are told whose signature is wanted, and fail without one. */
const OPENS_UNSIGNED = new Set(['gpg', 'rnp'])
const MEMORY = fileURLToPath(new URL('media-memory.ts', import.meta.url))

/**
 * Attachments: from sealed bytes in memory to a checked file on the disk, against openpgp.js,
 * which gives bytes in memory, and gpg, which writes a file. `memory` is what the 64 MiB add to a
 * process of its own at its peak.
 */
export async function mediaJobs(): Promise<Result[]> {
  await using cast = await makeCast(1)
  using programs = await findPrograms(cast, 'x')
  const folder = mkdtempSync(join(tmpdir(), 'pb-'))
  const results: Result[] = []
  try {
    await using spool = new SpoolDir(folder, 2 ** 30)
    for (const mib of SIZES) {
      for (const kind of mib === 64 ? ['', '-signed'] : ['']) {
        const sealed = await sealedFile(cast, mib, kind)
        const file = programs.file('sealed', sealed)
        const peers = [plainly(cast, sealed, kind)]
        for (const [name, openWith] of programs.open) {
          if (kind === '' && !OPENS_UNSIGNED.has(name)) continue
          peers.push({ name, run: () => openWith(file), rounds: 3 })
        }
        const result = await compare({
          job: `media-${mib}${kind}`,
          ours: { run: () => open(cast, sealed, { spool, kind }) },
          peers,
          rounds: mib === 64 ? 7 : 15,
          warmups: 2,
        })
        const memory = mib === 64 && kind === '' ? await memoryOf(cast, file) : undefined
        results.push({ ...result, bytes: mib * MIB, ...(memory && { memory }) })
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return results
}

async function sealedFile(cast: Cast, mib: number, kind: string): Promise<Uint8Array> {
  const binary = new Uint8Array(randomBytes(mib * MIB))
  return await encrypt({
    message: await createMessage({ binary }),
    encryptionKeys: cast.signerKey.toPublic(),
    ...(kind === '' ? {} : { signingKeys: cast.signerKey }),
    format: 'binary',
  })
}

async function open(
  cast: Cast,
  sealed: Uint8Array,
  { spool, kind }: { spool: SpoolDir; kind: string },
): Promise<void> {
  const reader = new ByteReader(inPieces(sealed))
  const options: OpenFileOptions = { form: 'binary', keys: [cast.signer], room: spool }
  const opened = await cast.engine.openFile(reader, options)
  if (opened.outcome !== 'opened') throw new Error(opened.outcome)
  if (kind !== '') {
    const certificate = cast.signerKey.toPublic().armor()
    const [result] = await cast.engine.verify(opened.signed, certificate, Date.now())
    if (result !== 'valid') throw new Error('not verified')
  }
  await opened.file.close()
}

/** As bytes come from a connection. */
export async function* inPieces(sealed: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < sealed.length; at += PIECE) {
    yield await Promise.resolve(sealed.subarray(at, at + PIECE))
  }
}

function plainly(cast: Cast, sealed: Uint8Array, kind: string): Contender {
  return {
    name: 'openpgpjs',
    run: async () => {
      const message = await readMessage({ binaryMessage: sealed })
      const { signatures } = await decrypt({
        message,
        decryptionKeys: cast.signerKey,
        ...(kind === '' ? {} : { verificationKeys: cast.signerKey.toPublic() }),
        format: 'binary',
      })
      await signatures[0]?.verified
    },
  }
}

/** MiB that opening one file adds to a process, by contender. */
async function memoryOf(cast: Cast, file: string): Promise<Record<string, number>> {
  const grown: Record<string, number> = {}
  for (const name of ['ours', 'openpgpjs']) {
    const key = `${file}.key`
    writeFileSync(key, cast.signer.bytes)
    const child = spawn(process.execPath, [MEMORY, name, file, key], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const chunks: Buffer[] = []
    child.stdout.on('data', (piece: Buffer) => chunks.push(piece))
    await new Promise((resolve) => void child.on('close', resolve))
    grown[name] = round(Number(Buffer.concat(chunks).toString()))
  }
  return grown
}
