import { expect, test } from 'vitest'
import { createEngine } from '../../src/openpgp/index.ts'
import { openPeers } from '../support/peers/index.ts'
import { isInstalled } from '../support/programs.ts'
import { SHAPES } from './all.ts'
import { ask } from './ask.ts'
import { FIVE, readKept } from './kept.ts'
import { reader } from './shape.ts'

const kept = readKept()
/** Without a JDK each call of PGPainless starts Java, so it is asked about fewer shapes. */
const FEW = 60

test.concurrent.for([...FIVE, 'openpgp.js'])(
  'the answers of %s for each shape are the kept answers',
  { timeout: 600_000 },
  async (name, { skip }) => {
    skip(FIVE.includes(name) && !isInstalled(name), `${name} is not installed`)
    await using opened = await openPeers([name])
    const peer = opened.peers.get(name) ?? expect.fail(`${name} does not start`)
    const version = kept.versions[name]
    skip(peer.version !== version, `${peer.version} is installed, and ${version} was asked`)
    const isSlow = name === 'pgpainless-cli' && !isInstalled('javac')
    const differing: string[] = []
    for (const [index, [key, shape]] of [...SHAPES].entries()) {
      if (isSlow && index % Math.ceil(SHAPES.size / FEW) > 0) continue
      const before = kept.shapes.get(key)?.get(name)
      const now = await ask(peer, shape)
      if (JSON.stringify(now) !== JSON.stringify(before)) differing.push(key)
    }
    expect(differing).toEqual([])
  },
)

test('each installed program seals to a new certificate of ours, and verifies our words', async () => {
  await using engine = createEngine({ threads: 1 })
  const createdMs = Date.now() - 300_000
  const key = await engine.generate({ userId: 'bot', createdMs, passphrase: 'x', isRandom: true })
  const signer = await engine.unlock(key.locked, 'x')
  const certificates = [reader.certificate]
  const message = await engine.seal({ text: 'hello', certificates, signer, cipher: 'aes256' })
  await using opened = await openPeers()
  for (const [name, peer] of opened.peers) {
    const { certificate } = key
    const secrets = [reader.secret]
    const { text, valid } = await peer.open({ message, secrets, certificate, atMs: Date.now() })
    expect([text?.toString(), valid], name).toEqual(['hello', 1])
    expect(await peer.encrypts(certificate, Date.now()), name).toBe(true)
  }
})
