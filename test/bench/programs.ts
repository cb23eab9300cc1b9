/** Other OpenPGP programs, where they are installed: each run is a whole process. */
import { spawn, spawnSync } from '../support/programs.ts'
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cast } from './people.ts'

/** Programs with the cast's keys in their own stores. */
export interface Programs extends Disposable {
  /** By name: sign a text and encrypt it to the first `count` people and the bot. */
  seal: Map<string, (count: number) => Promise<void>>
  /** By name: decrypt a file with the bot's key and verify. */
  open: Map<string, (file: string) => Promise<void>>
  /** Makes a file that openers can be given. */
  file: (name: string, content: string | Uint8Array) => string
}

/** What each program is told. */
interface Tools {
  folder: string
  file: Programs['file']
  run: (program: string, args: string[], stdin?: string) => Promise<void>
  setUp: (program: string, args: string[]) => void
  /** Files: the text, the bot's secret key and certificate, people's certificates, where to write. */
  words: string
  secret: string
  bot: string
  people: string[]
  all: string
  out: string
  own: string
  fingerprints: string[]
}

type Program = (tools: Tools) => {
  seal: (count: number) => Promise<void>
  open: (file: string) => Promise<void>
}

const each = (flag: string, values: string[]): string[] => values.flatMap((one) => [flag, one])

const gpg: Program = ({ run, setUp, all, secret, own, fingerprints, out, words }) => {
  const usual = ['--batch', '--yes', '--quiet', '--trust-model', 'always', '-o', out]
  setUp('gpg', ['--batch', '--quiet', '--import', all, secret])
  const send = [...usual, '--compress-algo', 'none', '--armor', '--sign', '--encrypt', '-u', own]
  return {
    seal: (count) =>
      run('gpg', [...send, ...each('-r', [own, ...fingerprints.slice(0, count)]), words]),
    open: (file) => run('gpg', [...usual, '--decrypt', file]),
  }
}

const sq: Program = ({ run, secret, bot, people, words }) => ({
  seal: (count) => {
    const recipients = each('--recipient-cert', [bot, ...people.slice(0, count)])
    return run('sq', ['encrypt', '--signer-key', secret, ...recipients, words])
  },
  open: (file) => run('sq', ['decrypt', '--recipient-key', secret, '--signer-cert', bot, file]),
})

const gosop: Program = ({ run, secret, bot, people, words, out }) => ({
  seal: (count) =>
    run('gosop', ['encrypt', `--sign-with=${secret}`, bot, ...people.slice(0, count)], words),
  open: async (file) => {
    rmSync(out, { force: true })
    await run('gosop', ['decrypt', `--verify-with=${bot}`, `--verify-out=${out}`, secret], file)
  },
})

const rnp: Program = ({ folder, run, setUp, all, secret, own, fingerprints, words, out }) => {
  // It would read gpg's keyring where it finds one.
  const home = join(folder, 'rnp')
  mkdirSync(home)
  const usual = ['--homedir', home, '--password', 'x', '--notty']
  setUp('rnpkeys', [...usual, '--import-keys', all])
  setUp('rnpkeys', [...usual, '--import-keys', secret])
  const write = ['--overwrite', '--output', out]
  return {
    seal: (count) => {
      const recipients = each('-r', [own, ...fingerprints.slice(0, count)])
      const how = ['--encrypt', '--sign', '--armor', '-z', '0', '-u', own]
      return run('rnp', [...usual, ...how, ...recipients, ...write, words])
    },
    open: (file) => run('rnp', [...usual, '--decrypt', ...write, file]),
  }
}

const PROGRAMS: Record<string, Program> = { gpg, sq, gosop, rnp }

/** Those that are installed, ready to work. @param text what is sealed */
export async function findPrograms(cast: Cast, text: string): Promise<Programs> {
  const folder = mkdtempSync(join(tmpdir(), 'pb-'))
  const tools = toolsIn(folder, cast, text)
  const env = environment(folder)
  const programs: Programs = {
    seal: new Map(),
    open: new Map(),
    file: tools.file,
    [Symbol.dispose]: () => {
      spawnSync('gpgconf', ['--kill', 'all'], { env })
      rmSync(folder, { recursive: true, force: true })
    },
  }
  for (const [name, program] of Object.entries(PROGRAMS)) {
    if (spawnSync('sh', ['-c', `command -v ${name}`], { env }).status !== 0) continue
    const { seal, open } = program(tools)
    await seal(1)
    programs.seal.set(name, seal)
    programs.open.set(name, open)
  }
  return programs
}

const environment = (folder: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: folder,
  GNUPGHOME: folder,
})

function toolsIn(folder: string, cast: Cast, text: string): Tools {
  const env = environment(folder)
  const file: Programs['file'] = (name, content) => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }
  return {
    folder,
    file,
    run: (program, args, stdin) =>
      new Promise((resolve, reject) => {
        const input = stdin === undefined ? 'ignore' : openSync(stdin, 'r')
        const child = spawn(program, args, { env, stdio: [input, 'ignore', 'ignore'] })
        child.on('error', reject)
        child.on('close', (code) =>
          code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}`)),
        )
      }),
    setUp: (program, args) => {
      const { status } = spawnSync(program, args, { env, stdio: 'ignore' })
      if (status !== 0) throw new Error(`${program} fails`)
    },
    words: file('words', text),
    secret: file('bot.secret', cast.signerKey.armor()),
    bot: file('bot.cert', cast.certificate),
    people: cast.certificates.map((armored, index) => file(`${index}.cert`, armored)),
    all: file('all.certs', Buffer.concat(cast.publicKeys.map((key) => key.write()))),
    out: join(folder, 'out'),
    own: cast.signer.fingerprint,
    fingerprints: cast.publicKeys.map((key) => key.getFingerprint()),
  }
}
