/** Programs with the stateless interface. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isInstalled, spawn } from '../programs.ts'
import type { Bytes, Feature, KeyKind, Peer } from './peer.ts'
import type { Shop } from './shop.ts'

type Call = (args: string[], input: Bytes) => Promise<{ isDone: boolean; stdout: Buffer }>

const onceEach = (shop: Shop, program: string): Promise<Call> =>
  Promise.resolve((args, input) => shop.run(program, args, input))

/** PGPainless in one process for all calls, where Java is a JDK: a start takes it seconds. */
export async function inOneJava(shop: Shop, program: string): Promise<Call> {
  if (!isInstalled('javac')) return await onceEach(shop, program)
  const source = join(import.meta.dirname, 'Pgpainless.java')
  const jars = '/usr/share/java/pgpainless-cli.jar:/usr/share/java/sop-java-picocli.jar'
  const java = spawn('java', ['-cp', jars, source], { stdio: ['pipe', 'pipe', 'ignore'] })
  const codes = createInterface({ input: java.stdout })[Symbol.asyncIterator]()
  shop.onEnd(() => java.stdin.end())
  return async (args, input) => {
    const out = shop.path()
    java.stdin.write(`${[await shop.file(input), out, ...args].join('\t')}\n`)
    const { value: code = '1' } = await codes.next()
    return { isDone: code === '0', stdout: await readFile(out) }
  }
}

/** A program with the stateless interface (draft-dkg-openpgp-stateless-cli), by its words of Debian 12. */
export const sop =
  (program: string, kind: KeyKind, features: Feature[], start = onceEach) =>
  async (shop: Shop): Promise<Peer> => {
    const version = await shop.version(program, 'version')
    const call = await start(shop, program)
    const must = async (args: string[], input: Bytes): Promise<string> => {
      const { isDone, stdout } = await call(args, input)
      if (!isDone) throw new Error(`${program} ${args[0] ?? ''} failed`)
      return stdout.toString()
    }
    return {
      version,
      writer: {
        kinds: [kind],
        features,
        async makeKey(_, name) {
          const secret = await must(['generate-key', name], '')
          return { certificate: await must(['extract-cert'], secret), secret, id: name }
        },
        async seal({ text, to, signers, feature }) {
          const as = feature === 'text mode' ? ['--as=text'] : []
          const keys = await shop.files(signers.map(({ secret }) => secret))
          const by = keys.map((key) => `--sign-with=${key}`)
          return await must(['encrypt', ...as, ...by, ...(await shop.files(to))], text)
        },
      },
      async open({ message, secrets, certificate }) {
        const verifications = shop.path()
        const keys = await shop.files(secrets)
        const by = [
          `--verify-out=${verifications}`,
          `--verify-with=${await shop.file(certificate)}`,
        ]
        const plain = await call(['decrypt', ...by, ...keys], message)
        const opened = plain.isDone ? plain : await call(['decrypt', ...keys], message)
        if (!opened.isDone) return { text: null, valid: 0 }
        const lines = plain.isDone ? await readFile(verifications, 'utf8') : ''
        return { text: opened.stdout, valid: lines.match(/^\d{4}-.+$/gm)?.length ?? 0 }
      },
      async encrypts(certificate) {
        return (await call(['encrypt', await shop.file(certificate)], 'x')).isDone
      },
    }
  }
