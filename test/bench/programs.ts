/** Other OpenPGP programs, where they are installed: each run is a whole process. */
import { spawn, spawnSync } from '../support/programs.ts'
import { openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './measure.ts'
import type { Cast } from './people.ts'

/** Programs with the cast's keys in their own stores. */
export interface Programs extends Disposable {
  /** By name: sign a text and encrypt it to the first `count` people and the bot. */
  seal: Map<string, (count: number) => Promise<void>>
}

/** What each program is given. */
interface Tools {
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

type Program = (tools: Tools) => (count: number) => Promise<void>

const each = (flag: string, values: string[]): string[] => values.flatMap((one) => [flag, one])

const gpg: Program = ({ run, setUp, all, secret, own, fingerprints, out, words }) => {
  const usual = ['--batch', '--yes', '--quiet', '--trust-model', 'always', '-o', out]
  setUp('gpg', ['--batch', '--quiet', '--import', all, secret])
  const send = [...usual, '--compress-algo', 'none', '--armor', '--sign', '--encrypt', '-u', own]
  return (count) =>
    run('gpg', [...send, ...each('-r', [own, ...fingerprints.slice(0, count)]), words])
}

const gosop: Program =
  ({ run, secret, bot, people, words }) =>
  (count) =>
    run('gosop', ['encrypt', `--sign-with=${secret}`, bot, ...people.slice(0, count)], words)

const PROGRAMS: Record<string, Program> = { gpg, gosop }

/** Those that are installed, ready to work. @param text what is sealed */
export function findPrograms(cast: Cast, text: string): Programs {
  const temporary = temporaryFolder()
  const tools = toolsIn(temporary.path, cast, text)
  const env = environment(temporary.path)
  const isThere = (name: string) =>
    spawnSync('sh', ['-c', `command -v ${name}`], { env }).status === 0
  const installed = Object.entries(PROGRAMS).filter(([name]) => isThere(name))
  return {
    seal: new Map(installed.map(([name, program]) => [name, program(tools)])),
    [Symbol.dispose]: () => {
      spawnSync('gpgconf', ['--kill', 'all'], { env })
      temporary[Symbol.dispose]()
    },
  }
}

const environment = (folder: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: folder,
  GNUPGHOME: folder,
})

function toolsIn(folder: string, cast: Cast, text: string): Tools {
  const env = environment(folder)
  const file = (name: string, content: string | Uint8Array): string => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }
  return {
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
