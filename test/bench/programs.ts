/** gosop, where it is installed: each run is a whole process. */
import { spawn, spawnSync } from '../support/programs.ts'
import { openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './measure.ts'
import type { Cast } from './people.ts'

/** Signs a text and encrypts it to the first `count` people and the bot. */
export interface Gosop extends Disposable {
  seal: (count: number) => Promise<void>
}

/** With the keys of the cast in files; null where it is not installed. @param text what is sealed */
export function findGosop(cast: Cast, text: string): Gosop | null {
  if (spawnSync('sh', ['-c', 'command -v gosop']).status !== 0) return null
  const folder = temporaryFolder()
  const file = (name: string, content: string): string => {
    const path = join(folder.path, name)
    writeFileSync(path, content)
    return path
  }
  const words = file('words', text)
  const secret = file('bot.secret', cast.signerKey.armor())
  const bot = file('bot.cert', cast.certificate)
  const people = cast.certificates.map((armored, index) => file(`${index}.cert`, armored))
  const seal = (count: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const args = ['encrypt', `--sign-with=${secret}`, bot, ...people.slice(0, count)]
      const child = spawn('gosop', args, { stdio: [openSync(words, 'r'), 'ignore', 'ignore'] })
      child.on('error', reject)
      child.on('close', (code) =>
        code === 0 ? resolve() : reject(new Error(`gosop ended with ${code}`)),
      )
    })
  return { seal, ...folder }
}
