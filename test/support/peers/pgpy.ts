/** PGPy. */
import type { Peer } from './peer.ts'
import type { Shop } from './shop.ts'

/** PGPy, by a script that its interpreter is handed. */
export async function pgpy(shop: Shop): Promise<Peer> {
  const python = async (script: string, args: string[]) =>
    await shop.run('/usr/bin/python3', ['-W', 'ignore', '-c', script, ...args])
  const { stdout, isDone } = await python(PGPY_VERSION, [])
  if (!isDone) throw new Error('PGPy is not installed')
  return {
    version: `PGPy ${stdout.toString().trim()}`,
    async open({ message, secrets, certificate }) {
      const paths = await shop.files([certificate, message, ...secrets])
      const ran = await python(PGPY_OPEN, paths)
      if (!ran.isDone) return { text: null, valid: 0 }
      const { text, valid } = JSON.parse(ran.stdout.toString()) as { text: string; valid: number }
      return { text: Buffer.from(text, 'hex'), valid }
    },
    async encrypts(certificate) {
      return (await python(PGPY_SEAL, [await shop.file(certificate)])).isDone
    },
  }
}

const PGPY_VERSION = `
import importlib.metadata, pgpy
print(importlib.metadata.version('PGPy'))
`
const PGPY_SEAL = `
import sys, pgpy
key, _ = pgpy.PGPKey.from_file(sys.argv[1])
key.encrypt(pgpy.PGPMessage.new('x'))
`
const PGPY_OPEN = `
import sys, json, pgpy
message = pgpy.PGPMessage.from_file(sys.argv[2])
opened = None
for path in sys.argv[3:]:
    secret, _ = pgpy.PGPKey.from_file(path)
    opened = secret.decrypt(message)
valid = 0
try:
    key, _ = pgpy.PGPKey.from_file(sys.argv[1])
    valid = len(list(key.verify(opened).good_signatures))
except Exception:
    pass
words = opened.message
words = words.encode('utf-8') if isinstance(words, str) else bytes(words)
print(json.dumps({'text': words.hex(), 'valid': valid}))
`
